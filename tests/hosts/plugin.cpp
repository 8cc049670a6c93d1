// A shared object that launches: the owner of its kernels is this object.
#include "tests/hosts/host.hpp"

namespace {
constexpr host::Kernel kKernel{"_Z6pluginv"};
}

extern "C" int launch_from_plugin() {
    host::register_kernels({&kKernel});
    for (int i = 0; i < 6; ++i) {
        host::must("cudaLaunchKernel", host::launch(kKernel));
    }
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return 6;
}

// Kernels launched by the program itself and by a shared object that it is linked with.
#include "tests/hosts/host.hpp"

extern "C" int launch_from_plugin();

namespace {
constexpr host::Kernel kKernel{"_Z7programv"};
}

int main() {
    host::register_kernels({&kKernel});
    for (int i = 0; i < 2; ++i) {
        host::must("cudaLaunchKernel", host::launch(kKernel));
    }
    std::printf("launched %d\n", 2 + launch_from_plugin());
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return 0;
}

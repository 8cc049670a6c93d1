// A shared object that launches: the owner of its kernels is this object. PLUGIN_KERNEL: the name of its kernel.
// PLUGIN_AT_LOAD: it launches when it is loaded, too.
#include "tests/hosts/host.hpp"

#ifndef PLUGIN_KERNEL
#define PLUGIN_KERNEL "_Z6pluginv"
#endif

namespace {
constexpr host::Kernel kKernel{PLUGIN_KERNEL};
}

extern "C" int launch_from_plugin() {
    host::register_kernels({&kKernel});
    for (int i = 0; i < 6; ++i) {
        host::must("cudaLaunchKernel", host::launch(kKernel));
    }
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return 6;
}

/// Whether the scope that this object was opened with has a function of the runtime under the version of its file.
extern "C" int finds_by_version() {
    return dlvsym(RTLD_DEFAULT, "cudaDeviceSynchronize", "libcudart.so.13") != nullptr ? 1 : 0;
}

#ifdef PLUGIN_AT_LOAD
namespace {
[[maybe_unused]] const int launched_at_load = launch_from_plugin();
}
#endif

// A program of CUDA 12: its runtime has no __cudaLaunchKernel, loads modules, and asks for the older cuCtxSynchronize.
#include "tests/hosts/host.hpp"

namespace {
constexpr host::Kernel kKernel{"_Z6twelvev"};
}

int main() {
    host::register_kernels({&kKernel});
    for (int i = 0; i < 4; ++i) {
        host::must("cudaLaunchKernel", host::launch(kKernel));
    }
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    std::printf("launched 4\n");
    return 0;
}

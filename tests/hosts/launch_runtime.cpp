// Launches by every function of the runtime that launches one kernel.
#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kAdd{"_Z3addPfS_"};
constexpr host::Kernel kScale{"_Z5scalePff"};

cudaError_t launch_ex(const host::Kernel& kernel) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(2);
    config.blockDim = dim3(64);
    return cudaLaunchKernelExC(&config, kernel.function(), nullptr);
}

}  // namespace

int main() {
    host::register_kernels({&kAdd, &kScale});
    for (int i = 0; i < 3; ++i) {
        host::must("cudaLaunchKernel", host::launch(kAdd));
    }
    cudaKernel_t kernel = nullptr;
    host::must("__cudaGetKernel", __cudaGetKernel(&kernel, kScale.function()));
    for (int i = 0; i < 5; ++i) {
        host::must("__cudaLaunchKernel", __cudaLaunchKernel(kernel, dim3(4), dim3(128), nullptr, 0, nullptr));
    }
    for (int i = 0; i < 2; ++i) {
        host::must("__cudaLaunchKernel_ptsz", __cudaLaunchKernel_ptsz(kernel, dim3(4), dim3(128), nullptr, 0, nullptr));
    }
    host::must("cudaLaunchKernelExC", launch_ex(kAdd));
    host::must("cudaLaunchCooperativeKernel",
               cudaLaunchCooperativeKernel(kAdd.function(), dim3(1), dim3(32), nullptr, 0, nullptr));
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    std::printf("launched 12\n");
    return 0;
}

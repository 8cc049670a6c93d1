// A program with the runtime inside: its calls are seen at the driver's level alone.
#include "tests/hosts/host.hpp"

namespace {
constexpr host::Kernel kKernel{"_Z13static_kernelv"};
}

int main() {
    host::register_kernels({&kKernel});
    for (int i = 0; i < 7; ++i) {
        host::must("cudaLaunchKernel", host::launch(kKernel));
    }
    cudaKernel_t kernel = nullptr;
    host::must("__cudaGetKernel", __cudaGetKernel(&kernel, kKernel.function()));
    for (int i = 0; i < 3; ++i) {
        host::must("__cudaLaunchKernel_ptsz", __cudaLaunchKernel_ptsz(kernel, dim3(1), dim3(32), nullptr, 0, nullptr));
    }
    void* memory = nullptr;
    char bytes[100] = {};
    host::must("cudaMalloc", cudaMalloc(&memory, sizeof bytes));
    host::must("cudaMemcpy", cudaMemcpy(memory, bytes, sizeof bytes, cudaMemcpyHostToDevice));
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    std::printf("launched 10\n");
    return 0;
}

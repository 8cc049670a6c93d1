// A program of CUDA 10.0 or older: nvcc made of each launch a cudaConfigureCall, a cudaSetupArgument for each argument, and a
// cudaLaunch.
#include "tests/hosts/host.hpp"

extern "C" {
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaSetupArgument(const void* argument, std::size_t bytes, std::size_t offset);
cudaError_t cudaLaunch(const void* function);
}

namespace {

constexpr host::Kernel kTen{"_Z3tenv"};
constexpr host::Kernel kEleven{"_Z6elevenv"};

void launch(const host::Kernel& kernel, dim3 grid) {
    const int argument = 5;
    host::must("cudaConfigureCall", cudaConfigureCall(grid, dim3(64), 0, nullptr));
    host::must("cudaSetupArgument", cudaSetupArgument(&argument, sizeof argument, 0));
    host::must("cudaLaunch", cudaLaunch(kernel.function()));
}

}  // namespace

int main() {
    host::register_kernels({&kTen, &kEleven});
    launch(kTen, dim3(1));
    launch(kEleven, dim3(7, 2));
    launch(kTen, dim3(3));
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    std::printf("launched 3\n");
    return 0;
}

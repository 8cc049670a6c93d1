// Two devices and the per-thread default stream: SIM_DEVICES=2.
#include <thread>

#include "tests/hosts/host.hpp"

extern "C" cudaError_t cudaLaunchKernel_ptsz(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
extern "C" cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t);

namespace {

constexpr host::Kernel kKernel{"_Z6devicev"};

void* fill_device(int device) {
    void* memory = nullptr;
    host::must("cudaSetDevice", cudaSetDevice(device));
    host::must("cudaMalloc", cudaMalloc(&memory, 4096));
    for (int i = 0; i <= device; ++i) {
        host::must("launch", host::launch(kKernel));
    }
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return memory;
}

void own_stream() {
    host::must("cudaLaunchKernel_ptsz",
               cudaLaunchKernel_ptsz(kKernel.function(), dim3(1), dim3(32), nullptr, 0, nullptr));
    host::must("cudaStreamSynchronize_ptsz", cudaStreamSynchronize_ptsz(nullptr));
}

}  // namespace

int main() {
    host::register_kernels({&kKernel});
    void* first = fill_device(0);
    void* second = fill_device(1);
    host::must("cudaMemcpyPeer", cudaMemcpyPeer(second, 1, first, 0, 1024));
    std::thread(own_stream).join();
    std::thread(own_stream).join();
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    std::printf("launched 5\n");
    return 0;
}

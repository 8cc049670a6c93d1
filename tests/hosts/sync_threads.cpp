// Several threads that launch on streams of their own and wait in every way there is. Kernels last SIM_KERNEL_NS.
#include <cuda.h>

#include <thread>
#include <vector>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kWork{"_Z4workv"};
constexpr int kThreads = 4;
constexpr int kRounds = 10;

void work(int index) {
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    host::must("cudaStreamCreate", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    host::must("cudaEventCreate", cudaEventCreate(&event));
    for (int round = 0; round < kRounds; ++round) {
        host::must("launch", host::launch(kWork, stream));
        switch (index) {
            case 0:
                host::must("cudaStreamSynchronize", cudaStreamSynchronize(stream));
                break;
            case 1:
                host::must("cudaEventRecord", cudaEventRecord(event, stream));
                host::must("cudaEventSynchronize", cudaEventSynchronize(event));
                break;
            case 2:
                host::must("cuStreamSynchronize", cuStreamSynchronize(stream));
                break;
            default:
                host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
                break;
        }
    }
    host::must("cudaEventDestroy", cudaEventDestroy(event));
    host::must("cudaStreamDestroy", cudaStreamDestroy(stream));
}

}  // namespace

int main() {
    host::register_kernels({&kWork});
    std::vector<std::thread> threads;
    for (int index = 0; index < kThreads; ++index) {
        threads.emplace_back(work, index);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::printf("launched %d on %d threads\n", kThreads * kRounds, kThreads);
    return 0;
}

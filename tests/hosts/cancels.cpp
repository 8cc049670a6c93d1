// Cancels a thread in a wait that would last for ever, for a kernel that does: cancels WAIT. Before that, the same wait for a short kernel; after it, another launch.
#include <cuda.h>
#include <pthread.h>

#include <cstring>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kShort{"_Z5shortv"};
constexpr host::Kernel kEndless{"_Z7endlessv"};

struct Work {
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    void* memory = nullptr;
};

const char* wait = "";
char on_host[64];

void wait_for(const Work& work) {
    const auto is = [](const char* name) { return std::strcmp(wait, name) == 0; };
    if (is("cudaStreamSynchronize")) cudaStreamSynchronize(work.stream);
    if (is("cudaEventSynchronize")) cudaEventSynchronize(work.event);
    if (is("cudaDeviceSynchronize")) cudaDeviceSynchronize();
    if (is("cuStreamSynchronize")) cuStreamSynchronize(work.stream);
    if (is("cuEventSynchronize")) cuEventSynchronize(work.event);
    if (is("cuCtxSynchronize")) cuCtxSynchronize();
    if (is("cudaMemcpy")) cudaMemcpy(on_host, work.memory, sizeof on_host, cudaMemcpyDeviceToHost);
    if (is("cuMemcpyDtoH_v2")) cuMemcpyDtoH(on_host, reinterpret_cast<CUdeviceptr>(work.memory), sizeof on_host);
}

Work begin(const host::Kernel& kernel) {
    Work work;
    // Blocking: a copy on the default stream waits for it.
    host::must("cudaStreamCreate", cudaStreamCreate(&work.stream));
    host::must("cudaEventCreate", cudaEventCreate(&work.event));
    host::must("cudaMalloc", cudaMalloc(&work.memory, sizeof on_host));
    host::must("launch", host::launch(kernel, work.stream));
    host::must("cudaEventRecord", cudaEventRecord(work.event, work.stream));
    return work;
}

/// A cancellation that comes before the wait is waiting there too: nothing before it is a point of cancellation.
void* wait_for_ever(void*) {
    wait_for(begin(kEndless));
    std::printf("not reached\n");
    return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
    wait = argc > 1 ? argv[1] : "";
    host::register_kernels({&kShort, &kEndless});
    host::set_duration(kEndless.name, 3'600'000'000'000);
    wait_for(begin(kShort));
    pthread_t thread;
    void* result = nullptr;
    pthread_create(&thread, nullptr, wait_for_ever, nullptr);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    std::printf("cancelled: %s\n", result == PTHREAD_CANCELED ? "yes" : "no");
    begin(kShort);
    std::fflush(stdout);
    return 0;
}

// Calls on memory, streams, events and device code, with the handles that they return: what the record must hold.
//
//     calls          the calls below
//     calls orders   streams, events, device code and contexts alone: nothing is executed, so nothing is to be recorded
#include <cuda.h>

#include <cstring>

#include "tests/hosts/host.hpp"

/// The form of CUDA 3.2 to 12, which today's header no longer declares.
extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device);

namespace {

void say_handle(const char* name, const void* handle) {
    std::printf("%s %p\n", name, handle);
}

void order() {
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    host::must("cudaStreamCreate", cudaStreamCreate(&stream));
    host::must("cudaEventCreate", cudaEventCreate(&event));
    host::must("cudaEventRecord", cudaEventRecord(event, stream));
    host::must("cudaStreamWaitEvent", cudaStreamWaitEvent(stream, event, 0));
    say_handle("stream", stream);
    say_handle("event", event);
    host::must("cudaEventDestroy", cudaEventDestroy(event));
    host::must("cudaStreamDestroy", cudaStreamDestroy(stream));
}

void load() {
    CUmodule module = nullptr;
    static const unsigned long long image[1] = {0};
    host::say("cuModuleLoadData", cuModuleLoadData(&module, image));
    CUcontext context = nullptr;
    host::say("a context on no device", cuCtxCreate_v2(&context, 0, 99));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "orders") == 0) {
        order();
        load();
        return 0;
    }
    void* memory = nullptr;
    void* pooled = nullptr;
    void* pinned = nullptr;
    host::must("cudaMalloc", cudaMalloc(&memory, 4096));
    say_handle("memory", memory);
    host::say("no out-parameter", cudaMalloc(nullptr, 16));
    host::must("cudaMallocAsync", cudaMallocAsync(&pooled, 512, nullptr));
    say_handle("pooled", pooled);
    host::must("cudaHostAlloc", cudaHostAlloc(&pinned, 64, 0));
    say_handle("pinned", pinned);
    order();
    host::must("cudaFreeAsync", cudaFreeAsync(pooled, nullptr));
    host::must("cudaFreeHost", cudaFreeHost(pinned));
    host::must("cudaFree", cudaFree(memory));
    load();
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return 0;
}

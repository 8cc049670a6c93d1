// Launches, copies, sets and waits on the simulated device, under a trap that counts what the library named LIBRARY does
// by itself: sim_calls LIBRARY. The simulated driver allocates, locks and sleeps, which is no one else's business.
#include <cuda.h>

#include <cstdio>
#include <thread>

#include "tests/hosts/host.hpp"
#include "tests/hosts/trap.hpp"

namespace {

namespace trap = host::trap;

constexpr host::Kernel kKernel{"_Z7trappedv"};
constexpr std::size_t kBytes = 4096;

struct Work {
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    void* memory = nullptr;
    char* on_host = nullptr;
    CUfunction function = nullptr;
    cudaGraphExec_t exec = nullptr;
};

template <class Body>
void watched(const char* what, Body&& body) {
    trap::arm(what);
    const auto status = body();
    trap::disarm();
    host::must(what, status);
}

Work set_up() {
    Work work;
    CUmodule module = nullptr;
    cudaGraph_t graph = nullptr;
    host::must("cudaStreamCreate", cudaStreamCreateWithFlags(&work.stream, cudaStreamNonBlocking));
    host::must("cudaEventCreate", cudaEventCreate(&work.event));
    host::must("cudaMalloc", cudaMalloc(&work.memory, kBytes));
    host::must("cudaMallocHost", cudaMallocHost(reinterpret_cast<void**>(&work.on_host), kBytes));
    host::must("cuModuleLoadData", cuModuleLoadData(&module, "image"));
    host::must("cuModuleGetFunction", cuModuleGetFunction(&work.function, module, "looked_up"));
    host::must("begin", cudaStreamBeginCapture(work.stream, cudaStreamCaptureModeThreadLocal));
    host::must("launch", host::launch(kKernel, work.stream));
    host::must("end", cudaStreamEndCapture(work.stream, &graph));
    host::must("cudaGraphInstantiate", cudaGraphInstantiate(&work.exec, graph, 0));
    return work;
}

void use(const Work& work) {
    watched("cudaLaunchKernel", [&] { return host::launch(kKernel, work.stream); });
    watched("cuLaunchKernel",
            [&] { return cuLaunchKernel(work.function, 1, 1, 1, 1, 1, 1, 0, work.stream, nullptr, nullptr); });
    watched("cudaGraphLaunch", [&] { return cudaGraphLaunch(work.exec, work.stream); });
    watched("cudaMemcpyAsync",
            [&] { return cudaMemcpyAsync(work.memory, work.on_host, kBytes, cudaMemcpyHostToDevice, work.stream); });
    watched("cuMemcpyDtoH",
            [&] { return cuMemcpyDtoH(work.on_host, reinterpret_cast<CUdeviceptr>(work.memory), kBytes); });
    watched("cudaMemsetAsync", [&] { return cudaMemsetAsync(work.memory, 0, kBytes, work.stream); });
    watched("cudaEventRecord", [&] { return cudaEventRecord(work.event, work.stream); });
    watched("cudaEventSynchronize", [&] { return cudaEventSynchronize(work.event); });
    watched("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(work.stream); });
    watched("cudaDeviceSynchronize", [&] { return cudaDeviceSynchronize(); });
    watched("cuCtxSynchronize", [&] { return cuCtxSynchronize(); });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    host::register_kernels({&kKernel});
    const Work work = set_up();
    use(work);
    if (!trap::set(argv[1])) return 77;
    bool is_watched = false;
    std::thread([&] {
        use(work);
        is_watched = trap::watch_thread();
        for (int i = 0; i < 50 && is_watched; ++i) use(work);
        trap::arm("cuModuleGetFunction");
        CUfunction again = nullptr;
        CUmodule module = nullptr;
        cuModuleLoadData(&module, "another image");
        cuModuleGetFunction(&again, module, "set up");
        trap::disarm();
    }).join();
    if (!is_watched) return 77;
    trap::tell();
    std::printf("used\n");
    return 0;
}

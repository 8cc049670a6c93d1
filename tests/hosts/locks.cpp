// One thread waits in a call for a kernel that never ends; meanwhile another one uses every other kind of call, looks functions
// up, opens and closes libraries. It goes on, or it hangs.
#include <cuda.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kEndless{"_Z7endlessv"};
constexpr host::Kernel kShort{"_Z5shortv"};

std::atomic<bool> is_waiting{false};

void wait_for_ever(cudaStream_t stream) {
    host::must("launch", host::launch(kEndless, stream));
    is_waiting = true;
    cudaStreamSynchronize(stream);
    std::printf("not reached\n");
}

void use_everything() {
    cudaStream_t stream = nullptr;
    void* memory = nullptr;
    host::must("cudaStreamCreate", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    host::must("cudaMalloc", cudaMalloc(&memory, 1024));
    for (int i = 0; i < 50; ++i) {
        host::must("launch", host::launch(kShort, stream));
        host::must("cudaMemsetAsync", cudaMemsetAsync(memory, 0, 1024, stream));
        host::must("cudaStreamSynchronize", cudaStreamSynchronize(stream));
    }
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    host::find<void*>(driver, "cuLaunchKernel");
    void* pointer = nullptr;
    host::must("cuGetProcAddress", cuGetProcAddress("cuLaunchKernel", &pointer, 12000, 0, nullptr));
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    host::must("cuModuleLoadData", cuModuleLoadData(&module, "image"));
    host::must("cuModuleGetFunction", cuModuleGetFunction(&function, module, "looked_up"));
    host::must("cuModuleUnload", cuModuleUnload(module));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    host::must("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    host::must("launch", host::launch(kShort, stream));
    host::must("end", cudaStreamEndCapture(stream, &graph));
    host::must("cudaGraphInstantiate", cudaGraphInstantiate(&exec, graph, 0));
    host::must("cudaGraphLaunch", cudaGraphLaunch(exec, stream));
    host::must("cudaStreamSynchronize", cudaStreamSynchronize(stream));
    for (int i = 0; i < 5; ++i) {
        void* other = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
        host::find<void*>(other, "cudaLaunchKernel");
        dlclose(other);
    }
}

}  // namespace

int main() {
    host::register_kernels({&kEndless, &kShort});
    host::set_duration(kEndless.name, 3'600'000'000'000);
    cudaStream_t stream = nullptr;
    host::must("cudaStreamCreate", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    std::thread(wait_for_ever, stream).detach();
    while (!is_waiting) {
        std::this_thread::yield();
    }
    use_everything();
    std::printf("went on\n");
    std::fflush(stdout);
    _exit(0);
}

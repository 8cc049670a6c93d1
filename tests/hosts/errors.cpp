// Calls that fail, and what they leave: statuses, the last error, out-parameters, errno.
#include <cuda.h>

#include <cerrno>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kKnown{"_Z5knownv"};
constexpr host::Kernel kUnknown{"_Z7unknownv"};
constexpr host::Kernel kMissing{"missing_kernel"};

void say_last() {
    std::printf("  peek %s", cudaGetErrorName(cudaPeekAtLastError()));
    std::printf(", get %s", cudaGetErrorName(cudaGetLastError()));
    std::printf(", then %s\n", cudaGetErrorName(cudaGetLastError()));
}

void say_runtime(const char* what, cudaError_t error) {
    host::say(what, error);
    say_last();
}

}  // namespace

int main() {
    host::register_kernels({&kKnown, &kMissing});
    void* pointer = &pointer;
    char bytes[16] = {};
    say_runtime("too much memory", cudaMalloc(&pointer, std::size_t{1} << 60));
    say_runtime("no out-parameter", cudaMalloc(nullptr, 16));
    say_runtime("unregistered kernel", host::launch(kUnknown));
    say_runtime("kernel that is not in the binary", host::launch(kMissing));
    say_runtime("no threads", host::launch(kKnown, nullptr, dim3(1), dim3(0)));
    say_runtime("too many threads", host::launch(kKnown, nullptr, dim3(1), dim3(2048)));
    say_runtime("bad direction", cudaMemcpy(bytes, bytes, 16, static_cast<cudaMemcpyKind>(7)));
    say_runtime("bad stream", cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(bytes)));
    say_runtime("bad event", cudaEventQuery(reinterpret_cast<cudaEvent_t>(bytes)));
    say_runtime("free of nonsense", cudaFree(bytes));
    say_runtime("bad device", cudaSetDevice(99));
    say_runtime("null graph", cudaGraphDestroy(nullptr));
    cudaGraphExec_t exec = nullptr;
    say_runtime("instantiate nothing", cudaGraphInstantiate(&exec, nullptr, 0));
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    host::say("no image", cuModuleLoadData(&module, nullptr));
    host::say("module", cuModuleLoadData(&module, "image"));
    host::say("missing function", cuModuleGetFunction(&function, module, "missing_function"));
    // Arguments that are not there, and out-parameters that an error leaves as they were.
    host::say("no function to write", cuModuleGetFunction(nullptr, module, "known"));
    host::say("no name", cuModuleGetFunction(&function, module, nullptr));
    host::say("no kernel to write", cuLibraryGetKernel(nullptr, nullptr, nullptr));
    host::say("no pointer to write", cuGetProcAddress("cuLaunchKernel", nullptr, 12000, 0, nullptr));
    std::printf("function %s\n", function == nullptr ? "as it was" : "written");
    const auto sentinel = reinterpret_cast<CUfunction>(bytes);
    function = sentinel;
    host::say("missing function again", cuModuleGetFunction(&function, module, "missing_function"));
    std::printf("function %s\n", function == sentinel ? "as it was" : "written");
    host::say("null function", cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    host::say("null config", cuLaunchKernelEx(nullptr, nullptr, nullptr, nullptr));
    say_last();
    errno = 77;
    host::say("a good launch", host::launch(kKnown));
    host::say("a good synchronisation", cudaDeviceSynchronize());
    std::printf("errno %d\n", errno);
    // With SIM_FAIL=cuLaunchKernel:700:2 the next one corrupts the context.
    say_runtime("second launch", host::launch(kKnown));
    say_runtime("after it", cudaDeviceSynchronize());
    return 0;
}

// The calls whose hooks are measured, made to the silent CUDA (tests/hosts/silent_cuda.cpp): what is left is the hook's own.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace bench {

/// As a framework launches: the runtime's call.
inline void launch_by_runtime() {
    static int function;
    static void* arguments[1] = {nullptr};
    cudaLaunchKernel(&function, dim3(64), dim3(256), arguments, 0, nullptr);
}

/// The driver's, to which the runtime's leads.
inline void launch_by_driver() {
    static int function;
    cuLaunchKernel(reinterpret_cast<CUfunction>(&function), 64, 1, 1, 256, 1, 1, 0, nullptr, nullptr, nullptr);
}

inline void copy() {
    static char memory[64];
    cudaMemcpyAsync(memory, memory + 32, 32, cudaMemcpyDeviceToDevice, nullptr);
}

inline void synchronise() {
    cudaStreamSynchronize(nullptr);
}

struct Call {
    const char* name;
    void (*make)();
};

inline constexpr Call kCalls[] = {
    {"cudaLaunchKernel", launch_by_runtime},
    {"cuLaunchKernel", launch_by_driver},
    {"cudaMemcpyAsync", copy},
    {"cudaStreamSynchronize", synchronise},
};

}  // namespace bench

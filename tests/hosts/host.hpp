// What the host programs share. They stand for other people's programs: they print what they see, the same on each run.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fatbinary_section.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "tests/hosts/dynamic.hpp"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** binary);
void __cudaRegisterFunction(void** binary, const char* host_function, char* device_function, const char* name,
                            int limit, uint3* thread, uint3* block, dim3* block_dim, dim3* grid_dim, int* warp);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                               cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared_bytes, cudaStream_t stream);
}

namespace host {

/// A kernel as nvcc leaves it in a program: an address on the host, and the name that it is registered with.
struct Kernel {
    const char* name;
    const void* function() const { return this; }
};

/// What nvcc's constructor does.
inline void register_kernels(std::initializer_list<const Kernel*> kernels) {
    static const unsigned long long image[1] = {0};
    static __fatBinC_Wrapper_t wrapper{FATBINC_MAGIC, FATBINC_VERSION, image, nullptr};
    void** binary = __cudaRegisterFatBinary(&wrapper);
    for (const Kernel* kernel : kernels) {
        __cudaRegisterFunction(binary, static_cast<const char*>(kernel->function()), const_cast<char*>(kernel->name),
                               kernel->name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    }
    __cudaRegisterFatBinaryEnd(binary);
}

inline cudaError_t launch(const Kernel& kernel, cudaStream_t stream = nullptr, dim3 grid = dim3(1),
                          dim3 block = dim3(32)) {
    return cudaLaunchKernel(kernel.function(), grid, block, nullptr, 0, stream);
}

/// Prints what a call returned. Any status type.
template <class Status>
void say(const char* what, Status status) {
    std::printf("%s: %d\n", what, static_cast<int>(status));
}

/// Ends the program, with a message, unless the call succeeded.
template <class Status>
void must(const char* what, Status status) {
    if (static_cast<int>(status) != 0) {
        std::printf("%s: failed with %d\n", what, static_cast<int>(status));
        std::exit(3);
    }
}

/// Controls of the simulated device (tests/fakes/sim.h); nothing happens on a real one.
inline void advance_ns(std::uint64_t ns) {
    static const auto control = reinterpret_cast<void (*)(std::uint64_t)>(dlsym(RTLD_DEFAULT, "sim_advance_ns"));
    void* library = control == nullptr ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) : nullptr;
    const auto local =
        library != nullptr ? reinterpret_cast<void (*)(std::uint64_t)>(dlsym(library, "sim_advance_ns")) : control;
    if (local != nullptr) {
        local(ns);
    }
}

inline void set_duration(const char* name, std::uint64_t ns) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    const auto control =
        library != nullptr ? reinterpret_cast<void (*)(const char*, std::uint64_t)>(dlsym(library, "sim_set_duration"))
                           : nullptr;
    if (control != nullptr) {
        control(name, ns);
    }
}

}  // namespace host

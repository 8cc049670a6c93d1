#include "tests/fakes/cudart/kernels.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

// The struct that nvcc's code hands over (fatbinary_section.h).
#include <fatbinary_section.h>

using sim::runtime::Table;
using sim::runtime::to_runtime;

namespace {

struct Binary {
    const void* image = nullptr;
    CUmodule module = nullptr;    ///< The runtime of CUDA 12 loads modules,
    CUlibrary library = nullptr;  ///< that of 13 libraries.
};

struct Registered {
    Binary* binary = nullptr;
    std::string name;
    CUfunction function = nullptr;
    CUkernel kernel = nullptr;
};

struct Registry {
    std::mutex mutex;
    std::vector<std::unique_ptr<Binary>> binaries;
    std::map<const void*, Registered> functions;
    std::map<CUfunction, const void*> hosts;
    std::set<const void*> handles;  ///< Given out by cudaLibraryGetKernel and __cudaGetKernel.
};

// Never destroyed: __cudaUnregisterFatBinary comes from exit handlers.
Registry& registry() {
    static auto* const instance = new Registry;
    return *instance;
}

/// Loads the binary at the first use of one of its kernels. Under the lock.
CUresult load(const Table& cu, Registered& entry) {
    if (entry.function != nullptr) {
        return CUDA_SUCCESS;
    }
    Binary& binary = *entry.binary;
    CUresult result = CUDA_SUCCESS;
#if SIM_CUDART_MAJOR >= 13
    if (binary.library == nullptr) {
        result = cu.cuLibraryLoadData(&binary.library, binary.image, nullptr, nullptr, 0, nullptr, nullptr, 0);
    }
    if (result == CUDA_SUCCESS) {
        result = cu.cuLibraryGetKernel(&entry.kernel, binary.library, entry.name.c_str());
    }
    if (result == CUDA_SUCCESS) {
        result = cu.cuKernelGetFunction(&entry.function, entry.kernel);
    }
#else
    if (binary.module == nullptr) {
        result = cu.cuModuleLoadData(&binary.module, binary.image);
    }
    if (result == CUDA_SUCCESS) {
        result = cu.cuModuleGetFunction(&entry.function, binary.module, entry.name.c_str());
    }
#endif
    return result;
}

}  // namespace

namespace sim::runtime {

cudaError_t find_function(const Table& cu, const void* function, CUfunction& found) {
    const std::lock_guard lock(registry().mutex);
    const auto entry = registry().functions.find(function);
    if (entry == registry().functions.end()) {
        if (!registry().handles.contains(function)) {
            return cudaErrorInvalidDeviceFunction;
        }
        found = static_cast<CUfunction>(const_cast<void*>(function));
        return cudaSuccess;
    }
    const CUresult result = load(cu, entry->second);
    if (result != CUDA_SUCCESS) {
        return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction : to_runtime(result);
    }
    found = entry->second.function;
    registry().hosts[found] = function;
    return cudaSuccess;
}

const void* host_function_of(CUfunction function) {
    const std::lock_guard lock(registry().mutex);
    const auto found = registry().hosts.find(function);
    return found != registry().hosts.end() ? found->second : function;
}

}  // namespace sim::runtime

extern "C" void** CUDARTAPI __cudaRegisterFatBinary(void* wrapper) {
    const std::lock_guard lock(registry().mutex);
    auto& binaries = registry().binaries;
    binaries.push_back(std::make_unique<Binary>());
    binaries.back()->image = static_cast<__fatBinC_Wrapper_t*>(wrapper)->data;
    return reinterpret_cast<void**>(binaries.back().get());
}
extern "C" void CUDARTAPI __cudaRegisterFatBinaryEnd(void**) {}
extern "C" void CUDARTAPI __cudaUnregisterFatBinary(void**) {}

extern "C" void CUDARTAPI __cudaRegisterFunction(void** binary, const char* host_function, char*, const char* name, int,
                                                 uint3*, uint3*, dim3*, dim3*, int*) {
    const std::lock_guard lock(registry().mutex);
    registry().functions[host_function] = {reinterpret_cast<Binary*>(binary), name, nullptr, nullptr};
}

SIM_RT(cudaLibraryLoadData, kContext,
       (cudaLibrary_t * library, const void* code, cudaJitOption* jit_options, void** jit_values, unsigned jit_count,
        cudaLibraryOption* options, void** values, unsigned count),
       (library, code, jit_options, jit_values, jit_count, options, values, count)) {
    return jit_count != 0 || count != 0 || jit_options != nullptr || jit_values != nullptr || options != nullptr ||
                   values != nullptr
               ? cudaErrorNotSupported
               : to_runtime(cu.cuLibraryLoadData(reinterpret_cast<CUlibrary*>(library), code, nullptr, nullptr, 0,
                                                 nullptr, nullptr, 0));
}

SIM_RT(cudaLibraryUnload, kContext, (cudaLibrary_t library), (library)) {
    return to_runtime(cu.cuLibraryUnload(reinterpret_cast<CUlibrary>(library)));
}

SIM_RT(cudaLibraryGetKernel, kContext, (cudaKernel_t * kernel, cudaLibrary_t library, const char* name),
       (kernel, library, name)) {
    const CUresult result =
        cu.cuLibraryGetKernel(reinterpret_cast<CUkernel*>(kernel), reinterpret_cast<CUlibrary>(library), name);
    if (result == CUDA_SUCCESS) {
        const std::lock_guard lock(registry().mutex);
        registry().handles.insert(*kernel);
    }
    return to_runtime(result);
}

SIM_RT(cudaGetFuncBySymbol, kContext, (cudaFunction_t * out, const void* function), (out, function)) {
    CUfunction found = nullptr;
    const cudaError_t result = sim::runtime::find_function(cu, function, found);
    *out = result == cudaSuccess ? reinterpret_cast<cudaFunction_t>(found) : nullptr;
    return result;
}

SIM_RT(cudaFuncGetName, kContext, (const char** name, const void* function), (name, function)) {
    CUfunction found = nullptr;
    const cudaError_t result = sim::runtime::find_function(cu, function, found);
    return result != cudaSuccess ? result : to_runtime(cu.cuFuncGetName(name, found));
}

#if SIM_CUDART_MAJOR >= 13
SIM_RT(__cudaGetKernel, kContext, (cudaKernel_t * kernel, const void* function), (kernel, function)) {
    CUfunction found = nullptr;
    const cudaError_t result = sim::runtime::find_function(cu, function, found);
    if (result != cudaSuccess) {
        return result;
    }
    const std::lock_guard lock(registry().mutex);
    *kernel = reinterpret_cast<cudaKernel_t>(registry().functions.at(function).kernel);
    return cudaSuccess;
}
#endif

// Modules, libraries and kernels. An image is not looked into: each name asked for is a kernel, but for those that
// begin with "missing".
#include <cstring>

#include "tests/fakes/driver/call.hpp"

using sim::driver;
using sim::Lock;

namespace {

constexpr std::size_t kGlobalBytes = 256;

bool exists(const char* name) {
    return std::strncmp(name, "missing", 7) != 0;
}

CUresult load(CUmodule* module, const void* image) {
    if (module == nullptr || image == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (sim::current_context() == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *module = new CUmod_st;
    return CUDA_SUCCESS;
}

/// Under the lock.
CUfunction find_function(CUmod_st& module, const char* name) {
    auto& function = module.functions[name];
    if (!function) {
        function = std::make_unique<CUfunc_st>(CUfunc_st{sim::intern(name), &module});
        driver().functions.insert(function.get());
    }
    return function.get();
}

void forget_functions(const CUmod_st& module) {
    for (const auto& [name, function] : module.functions) {
        driver().functions.erase(function.get());
    }
}

CUresult find_global(CUmod_st& module, const char* name, CUdeviceptr* pointer, std::size_t* bytes) {
    const Lock lock(driver().mutex);
    if (!exists(name)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    auto& global = module.globals[name];
    global.resize(kGlobalBytes);
    driver().memory[reinterpret_cast<std::uintptr_t>(global.data())] = {kGlobalBytes, sim::MemoryKind::kDevice, 0,
                                                                        false};
    if (pointer != nullptr) {
        *pointer = reinterpret_cast<CUdeviceptr>(global.data());
    }
    if (bytes != nullptr) {
        *bytes = kGlobalBytes;
    }
    return CUDA_SUCCESS;
}

CUresult kernel_attribute(int* value, CUfunction_attribute asked) {
    *value = asked == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API(cuModuleLoad, , 2000, (CUmodule * module, const char* path), (module, path)) {
    return load(module, path);
}
SIM_API(cuModuleLoadData, , 2000, (CUmodule * module, const void* image), (module, image)) {
    return load(module, image);
}
SIM_API(cuModuleLoadDataEx, , 2010,
        (CUmodule * module, const void* image, [[maybe_unused]] unsigned option_count,
         [[maybe_unused]] CUjit_option* options, [[maybe_unused]] void** values),
        (module, image, option_count, options, values)) {
    return load(module, image);
}
SIM_API(cuModuleLoadFatBinary, , 2000, (CUmodule * module, const void* image), (module, image)) {
    return load(module, image);
}

SIM_API(cuModuleUnload, , 2000, (CUmodule module), (module)) {
    const Lock lock(driver().mutex);
    forget_functions(*module);
    delete module;
    return CUDA_SUCCESS;
}

SIM_API(cuModuleGetFunction, , 2000, (CUfunction * function, CUmodule module, const char* name),
        (function, module, name)) {
    if (function == nullptr || module == nullptr || name == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!exists(name)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    const Lock lock(driver().mutex);
    *function = find_function(*module, name);
    return CUDA_SUCCESS;
}

SIM_API(cuModuleGetGlobal, _v2, 3020, (CUdeviceptr * pointer, std::size_t* bytes, CUmodule module, const char* name),
        (pointer, bytes, module, name)) {
    return find_global(*module, name, pointer, bytes);
}

SIM_API(cuModuleGetLoadingMode, , 11070, (CUmoduleLoadingMode * mode), (mode)) {
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryLoadData, , 12000,
        (CUlibrary * library, const void* code, [[maybe_unused]] CUjit_option* jit_options,
         [[maybe_unused]] void** jit_values, [[maybe_unused]] unsigned jit_count,
         [[maybe_unused]] CUlibraryOption* options, [[maybe_unused]] void** values, [[maybe_unused]] unsigned count),
        (library, code, jit_options, jit_values, jit_count, options, values, count)) {
    if (library == nullptr || code == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *library = new CUlib_st;
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryLoadFromFile, , 12000,
        (CUlibrary * library, const char* path, [[maybe_unused]] CUjit_option* jit_options,
         [[maybe_unused]] void** jit_values, [[maybe_unused]] unsigned jit_count,
         [[maybe_unused]] CUlibraryOption* options, [[maybe_unused]] void** values, [[maybe_unused]] unsigned count),
        (library, path, jit_options, jit_values, jit_count, options, values, count)) {
    if (library == nullptr || path == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *library = new CUlib_st;
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryUnload, , 12000, (CUlibrary library), (library)) {
    const Lock lock(driver().mutex);
    forget_functions(library->module);
    for (const auto& [name, kernel] : library->kernels) {
        driver().functions.erase(kernel.get());
        driver().kernels.erase(kernel.get());
    }
    delete library;
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryGetKernel, , 12000, (CUkernel * kernel, CUlibrary library, const char* name),
        (kernel, library, name)) {
    if (kernel == nullptr || library == nullptr || name == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!exists(name)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    const Lock lock(driver().mutex);
    auto& found = library->kernels[name];
    if (!found) {
        found = std::make_unique<CUkern_st>(CUkern_st{{sim::intern(name), &library->module}, library});
        driver().functions.insert(found.get());
        driver().kernels.insert(found.get());
    }
    *kernel = found.get();
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryGetModule, , 12000, (CUmodule * module, CUlibrary library), (module, library)) {
    *module = &library->module;
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryGetGlobal, , 12000, (CUdeviceptr * pointer, std::size_t* bytes, CUlibrary library, const char* name),
        (pointer, bytes, library, name)) {
    return find_global(library->module, name, pointer, bytes);
}

SIM_API(cuLibraryGetKernelCount, , 12040, (unsigned* count, CUlibrary library), (count, library)) {
    const Lock lock(driver().mutex);
    *count = static_cast<unsigned>(library->kernels.size());
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryEnumerateKernels, , 12040, (CUkernel * kernels, unsigned count, CUlibrary library),
        (kernels, count, library)) {
    const Lock lock(driver().mutex);
    unsigned index = 0;
    for (const auto& [name, kernel] : library->kernels) {
        if (index < count) {
            kernels[index++] = kernel.get();
        }
    }
    return CUDA_SUCCESS;
}

SIM_API(cuKernelGetFunction, , 12000, (CUfunction * function, CUkernel kernel), (function, kernel)) {
    const Lock lock(driver().mutex);
    if (!driver().kernels.contains(kernel)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *function = find_function(kernel->library->module, kernel->function.name);
    return CUDA_SUCCESS;
}

SIM_API(cuKernelGetLibrary, , 12050, (CUlibrary * library, CUkernel kernel), (library, kernel)) {
    const Lock lock(driver().mutex);
    if (!driver().kernels.contains(kernel)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *library = kernel->library;
    return CUDA_SUCCESS;
}

SIM_API(cuKernelGetName, , 12030, (const char** name, CUkernel kernel), (name, kernel)) {
    const Lock lock(driver().mutex);
    if (!driver().kernels.contains(kernel)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *name = kernel->function.name;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetName, , 12030, (const char** name, CUfunction function), (name, function)) {
    const Lock lock(driver().mutex);
    if (!driver().functions.contains(function) || driver().kernels.contains(function)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *name = function->name;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetModule, , 11000, (CUmodule * module, CUfunction function), (module, function)) {
    const Lock lock(driver().mutex);
    if (!driver().functions.contains(function)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *module = function->module;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetAttribute, , 2020, (int* value, CUfunction_attribute asked, CUfunction function),
        (value, asked, function)) {
    return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : kernel_attribute(value, asked);
}
SIM_API(cuFuncSetAttribute, , 9000,
        (CUfunction function, [[maybe_unused]] CUfunction_attribute asked, [[maybe_unused]] int value),
        (function, asked, value)) {
    return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
SIM_API(cuFuncSetCacheConfig, , 3000, (CUfunction function, [[maybe_unused]] CUfunc_cache config), (function, config)) {
    return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

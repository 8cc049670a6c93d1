// A driver that does nothing, which can be unloaded (the simulated one stays).
#include <cuda.h>

#include <cstring>

extern "C" {

extern const int small_driver = 1;

CUresult cuDriverGetVersion(int* version) {
    *version = 12040;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void**, void**) {
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction) {
    *name = "small";
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** pointer, int, cuuint64_t, CUdriverProcAddressQueryResult*) {
    *pointer = std::strcmp(symbol, "cuLaunchKernel") == 0 ? reinterpret_cast<void*>(&cuLaunchKernel) : nullptr;
    return *pointer != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
}

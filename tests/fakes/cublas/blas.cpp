// libcublas: its products in mixed precision go to cublasLt, as the real one's do.
#include <cublasLt.h>

#include <cstdio>

#include "tests/fakes/cublas/handles.hpp"

namespace {

/// Launches kernels on the handle's stream; `injection` is the calling function's.
cublasStatus_t run(cublasHandle_t handle, sim::Injection& injection, std::initializer_list<const char*> kernels) {
    const int injected = injection.next();
    if (handle == nullptr || injected != 0) {
        return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : static_cast<cublasStatus_t>(injected);
    }
    return sim::cublas::status(sim::launch_kernels(handle->stream, kernels));
}

cublasStatus_t multiply(cublasHandle_t handle) {
    if (handle == nullptr) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    static cublasLtHandle_t light = [] {
        cublasLtHandle_t made = nullptr;
        cublasLtCreate(&made);
        return made;
    }();
    return cublasLtMatmul(light, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                          nullptr, nullptr, nullptr, nullptr, 0, handle->stream);
}

}  // namespace

extern "C" {

cublasStatus_t CUBLASWINAPI cublasCreate_v2(cublasHandle_t* handle) {
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t CUBLASWINAPI cublasDestroy_v2(cublasHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t CUBLASWINAPI cublasGetVersion_v2(cublasHandle_t, int* version) {
    *version = 130000;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t CUBLASWINAPI cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t CUBLASWINAPI cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t CUBLASWINAPI cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    handle->math_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t CUBLASWINAPI cublasSetWorkspace_v2(cublasHandle_t, void*, size_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int, int, int,
                                           const float*, const float*, int, const float*, int, const float*, float*,
                                           int) {
    static sim::Injection injection("cublasSgemm_v2");
    return run(handle, injection, {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_cublas"});
}

cublasStatus_t CUBLASWINAPI cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int, int, int,
                                           const double*, const double*, int, const double*, int, const double*,
                                           double*, int) {
    static sim::Injection injection("cublasDgemm_v2");
    return run(handle, injection, {"cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1"});
}

cublasStatus_t CUBLASWINAPI cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t, int, int, const float*,
                                           const float*, int, const float*, int, const float*, float*, int) {
    static sim::Injection injection("cublasSgemv_v2");
    return run(handle, injection, {"_Z17gemv2T_kernel_valIifffE"});
}

cublasStatus_t CUBLASWINAPI cublasSaxpy_v2(cublasHandle_t handle, int, const float*, const float*, int, float*, int) {
    static sim::Injection injection("cublasSaxpy_v2");
    return run(handle, injection, {"_Z15axpy_kernel_valIffE"});
}

cublasStatus_t CUBLASWINAPI cublasGemmEx(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int, int, int,
                                         const void*, const void*, cudaDataType, int, const void*, cudaDataType, int,
                                         const void*, void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t) {
    return multiply(handle);
}

cublasStatus_t CUBLASWINAPI cublasGemmGroupedBatchedEx(cublasHandle_t handle, const cublasOperation_t*,
                                                       const cublasOperation_t*, const int*, const int*, const int*,
                                                       const void*, const void* const*, cudaDataType_t, const int*,
                                                       const void* const*, cudaDataType_t, const int*, const void*,
                                                       void* const*, cudaDataType_t, const int*, int, const int*,
                                                       cublasComputeType_t) {
    static sim::Injection injection("cublasGemmGroupedBatchedEx");
    return run(handle, injection, {"cutlass_80_tensorop_f16_s16816gemm_grouped_f16_128x128_32x4_nn_align8"});
}

cublasStatus_t CUBLASWINAPI cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int,
                                                       int, int, const void*, const void*, cudaDataType, int,
                                                       long long int, const void*, cudaDataType, int, long long int,
                                                       const void*, void*, cudaDataType, int, long long int, int,
                                                       cublasComputeType_t, cublasGemmAlgo_t) {
    const cublasStatus_t result = multiply(handle);
    static sim::Injection injection("cublasGemmStridedBatchedEx");
    return result != CUBLAS_STATUS_SUCCESS
               ? result
               : run(handle, injection, {"_ZN8cublasLt19splitKreduce_kernelILi32ELi16EiffEEv"});
}

cublasStatus_t CUBLASWINAPI cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int,
                                                      int, int, const float*, const float*, int, long long int,
                                                      const float*, int, long long int, const float*, float*, int,
                                                      long long int, int) {
    static sim::Injection injection("cublasSgemmStridedBatched");
    return run(handle, injection, {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_cublas"});
}
}

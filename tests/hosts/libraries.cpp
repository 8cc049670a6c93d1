// Calls of cuDNN, cuBLAS and cuBLASLt, between kernels of the program's own.
#include <cublas_v2.h>
#include <cublasLt.h>
#include <cudnn.h>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kOwn{"_Z10own_kernelv"};

void convolve(cudnnHandle_t handle) {
    cudnnConvolutionDescriptor_t convolution = nullptr;
    host::must("cudnnCreateConvolutionDescriptor", cudnnCreateConvolutionDescriptor(&convolution));
    for (int i = 0; i < 3; ++i) {
        host::must("cudnnConvolutionForward",
                   cudnnConvolutionForward(handle, nullptr, nullptr, nullptr, nullptr, nullptr, convolution,
                                           CUDNN_CONVOLUTION_FWD_ALGO_GEMM, nullptr, 0, nullptr, nullptr, nullptr));
    }
    host::must("cudnnConvolutionBackwardData",
               cudnnConvolutionBackwardData(handle, nullptr, nullptr, nullptr, nullptr, nullptr, convolution,
                                            CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, nullptr, 0, nullptr, nullptr, nullptr));
    host::must(
        "cudnnConvolutionBackwardFilter",
        cudnnConvolutionBackwardFilter(handle, nullptr, nullptr, nullptr, nullptr, nullptr, convolution,
                                       CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, nullptr, 0, nullptr, nullptr, nullptr));
    host::must("cudnnDestroyConvolutionDescriptor", cudnnDestroyConvolutionDescriptor(convolution));
}

void normalise(cudnnHandle_t handle) {
    host::must("cudnnBatchNormalizationForwardTrainingEx",
               cudnnBatchNormalizationForwardTrainingEx(handle, CUDNN_BATCHNORM_SPATIAL, CUDNN_BATCHNORM_OPS_BN,
                                                        nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                                        nullptr, nullptr, nullptr, nullptr, 0.1, nullptr, nullptr, 1e-5,
                                                        nullptr, nullptr, nullptr, nullptr, 0, nullptr, 4321));
    host::must("cudnnBatchNormalizationBackwardEx",
               cudnnBatchNormalizationBackwardEx(
                   handle, CUDNN_BATCHNORM_SPATIAL, CUDNN_BATCHNORM_OPS_BN, nullptr, nullptr, nullptr, nullptr, nullptr,
                   nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                   nullptr, nullptr, nullptr, 1e-5, nullptr, nullptr, nullptr, nullptr, 0, nullptr, 4321));
}

/// What a plan is built from, and what each execution sets anew.
void describe() {
    cudnnBackendDescriptor_t tensor = nullptr;
    cudnnBackendDescriptor_t pack = nullptr;
    const std::int64_t dimensions[] = {32, 3, 224, 224};
    const cudnnDataType_t type = CUDNN_DATA_HALF;
    const bool is_virtual = true;
    const void* pointers[] = {&tensor, &pack};
    host::must("cudnnBackendCreateDescriptor", cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &tensor));
    const auto set = [](cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t kind, std::int64_t count, const void* elements) {
        host::must("cudnnBackendSetAttribute", cudnnBackendSetAttribute(descriptor, name, kind, count, elements));
    };
    set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dimensions);
    set(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    host::must("cudnnBackendCreateDescriptor",
               cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
    set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 2, pointers);
}

void multiply() {
    cublasHandle_t handle = nullptr;
    const float one = 1.0F;
    host::must("cublasCreate", cublasCreate(&handle));
    host::must("cublasSgemm",
               cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, nullptr, 8, nullptr, 8, &one, nullptr, 8));
    for (int i = 0; i < 2; ++i) {
        host::must("cublasGemmEx", cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, nullptr, CUDA_R_16BF,
                                                8, nullptr, CUDA_R_16BF, 8, &one, nullptr, CUDA_R_16BF, 8,
                                                CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    }
    host::must("cublasGemmStridedBatchedEx",
               cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, nullptr, CUDA_R_16BF, 8, 64,
                                          nullptr, CUDA_R_16BF, 8, 64, &one, nullptr, CUDA_R_16BF, 8, 64, 4,
                                          CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    cublasLtHandle_t light = nullptr;
    host::must("cublasLtCreate", cublasLtCreate(&light));
    host::must("cublasLtMatmul", cublasLtMatmul(light, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                                nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr));
    host::must("cublasDestroy", cublasDestroy(handle));
}

}  // namespace

int main() {
    host::register_kernels({&kOwn});
    cudnnHandle_t handle = nullptr;
    host::must("cudnnCreate", cudnnCreate(&handle));
    host::must("launch", host::launch(kOwn));
    convolve(handle);
    host::must("launch", host::launch(kOwn));
    normalise(handle);
    describe();
    cudnnBackendDescriptor_t plan = nullptr;
    host::must("cudnnBackendCreateDescriptor",
               cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan));
    host::must("cudnnBackendExecute", cudnnBackendExecute(handle, plan, plan));
    multiply();
    host::say("a failing call", cudnnBackendExecute(nullptr, plan, plan));
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    std::printf("cudnn %zu\n", cudnnGetVersion());
    return 0;
}

// libcudnn_ops.so.9: tensors and what is done to them element by element.
#include <cstdio>

#include "tests/fakes/cudnn/handle.hpp"

namespace {

template <class Handle>
cudnnStatus_t make(Handle* descriptor) {
    *descriptor = reinterpret_cast<Handle>(new char);
    return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cudnnStatus_t CUDNNWINAPI cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* descriptor) {
    return make(descriptor);
}
cudnnStatus_t CUDNNWINAPI cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
    delete reinterpret_cast<char*>(descriptor);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t, cudnnTensorFormat_t, cudnnDataType_t, int,
                                                     int, int, int) {
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* descriptor) {
    return make(descriptor);
}
cudnnStatus_t CUDNNWINAPI cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor) {
    delete reinterpret_cast<char*>(descriptor);
    return CUDNN_STATUS_SUCCESS;
}

// Its last argument tells whether all the 25 came through: a wrapper that forwards too few corrupts the call.
cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const void*, const void*, cudnnTensorDescriptor_t,
    const void*, cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t,
    const void*, const void*, double factor, void*, void*, double epsilon, void*, void*, cudnnActivationDescriptor_t,
    void*, size_t, void*, size_t reserve_bytes) {
    static sim::Injection injection("cudnnBatchNormalizationForwardTrainingEx");
    if (factor != 0.1 || epsilon != 1e-5 || reserve_bytes != 4321) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    return sim::cudnn::run(handle, injection, {"_ZN5cudnn19bn_fw_tr_1C11_kernelEv"});
}

cudnnStatus_t CUDNNWINAPI cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const void*, const void*, const void*, const void*,
    cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, const void*, const void*,
    void*, void*, double epsilon, const void*, const void*, cudnnActivationDescriptor_t, void*, size_t, void*,
    size_t reserve_bytes) {
    static sim::Injection injection("cudnnBatchNormalizationBackwardEx");
    if (epsilon != 1e-5 || reserve_bytes != 4321) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    return sim::cudnn::run(handle, injection, {"_ZN5cudnn16bn_bw_1C11_kernelEv"});
}
}

SIM_CUDNN_RUN(cudnnActivationForward,
              (cudnnHandle_t handle, cudnnActivationDescriptor_t, const void*, cudnnTensorDescriptor_t, const void*,
               const void*, cudnnTensorDescriptor_t, void*),
              "_ZN5cudnn3ops17activation_kernelEv")

SIM_CUDNN_RUN(cudnnPoolingForward,
              (cudnnHandle_t handle, cudnnPoolingDescriptor_t, const void*, cudnnTensorDescriptor_t, const void*,
               const void*, cudnnTensorDescriptor_t, void*),
              "_ZN5cudnn3ops20pooling_fw_4d_kernelEv")

SIM_CUDNN_RUN(cudnnBatchNormalizationForwardInference,
              (cudnnHandle_t handle, cudnnBatchNormMode_t, const void*, const void*, cudnnTensorDescriptor_t,
               const void*, cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, const void*, const void*,
               const void*, const void*, double),
              "_ZN5cudnn14bn_fw_inf_1C11Ev")

SIM_CUDNN_RUN(cudnnBatchNormalizationForwardTraining,
              (cudnnHandle_t handle, cudnnBatchNormMode_t, const void*, const void*, cudnnTensorDescriptor_t,
               const void*, cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, const void*, const void*, double,
               void*, void*, double, void*, void*),
              "_ZN5cudnn19bn_fw_tr_1C11_kernelEv")

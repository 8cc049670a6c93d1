// libcudnn_adv.so.9: recurrent networks.
#include "tests/fakes/cudnn/handle.hpp"

extern "C" {

cudnnStatus_t CUDNNWINAPI cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* descriptor) {
    *descriptor = reinterpret_cast<cudnnRNNDescriptor_t>(new char);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* descriptor) {
    *descriptor = reinterpret_cast<cudnnRNNDataDescriptor_t>(new char);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t, cudnnRNNAlgo_t, cudnnRNNMode_t,
                                                   cudnnRNNBiasMode_t, cudnnDirectionMode_t, cudnnRNNInputMode_t,
                                                   cudnnDataType_t, cudnnDataType_t, cudnnMathType_t, int32_t, int32_t,
                                                   int32_t, int32_t, cudnnDropoutDescriptor_t, uint32_t) {
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t, cudnnDataType_t, cudnnRNNDataLayout_t,
                                                    int, int, int, const int*, void*) {
    return CUDNN_STATUS_SUCCESS;
}
}

SIM_CUDNN_RUN(cudnnRNNForward,
              (cudnnHandle_t handle, cudnnRNNDescriptor_t, cudnnForwardMode_t, const int32_t*, cudnnRNNDataDescriptor_t,
               const void*, cudnnRNNDataDescriptor_t, void*, cudnnTensorDescriptor_t, const void*, void*,
               cudnnTensorDescriptor_t, const void*, void*, size_t, const void*, size_t, void*, size_t, void*),
              "_Z20RNN_blockPersist_fp_LSTMv")

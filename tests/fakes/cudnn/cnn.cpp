// libcudnn_cnn.so.9: convolutions.
#include "tests/fakes/cudnn/handle.hpp"

extern "C" cudnnStatus_t CUDNNWINAPI cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* descriptor) {
    *descriptor = reinterpret_cast<cudnnConvolutionDescriptor_t>(new char);
    return CUDNN_STATUS_SUCCESS;
}
extern "C" cudnnStatus_t CUDNNWINAPI cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor) {
    delete reinterpret_cast<char*>(descriptor);
    return CUDNN_STATUS_SUCCESS;
}

SIM_CUDNN_RUN(cudnnConvolutionForward,
              (cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t, const void*, cudnnFilterDescriptor_t,
               const void*, cudnnConvolutionDescriptor_t, cudnnConvolutionFwdAlgo_t, void*, size_t, const void*,
               cudnnTensorDescriptor_t, void*),
              "_ZN5cudnn3ops16nchwToNhwcKernelIffEEv", "implicit_convolve_sgemm")

SIM_CUDNN_RUN(cudnnConvolutionBackwardData,
              (cudnnHandle_t handle, const void*, cudnnFilterDescriptor_t, const void*, cudnnTensorDescriptor_t,
               const void*, cudnnConvolutionDescriptor_t, cudnnConvolutionBwdDataAlgo_t, void*, size_t, const void*,
               cudnnTensorDescriptor_t, void*),
              "_ZN5cudnn6detail12dgrad_engineIfEEv")

SIM_CUDNN_RUN(cudnnConvolutionBackwardFilter,
              (cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t,
               const void*, cudnnConvolutionDescriptor_t, cudnnConvolutionBwdFilterAlgo_t, void*, size_t, const void*,
               cudnnFilterDescriptor_t, void*),
              "_ZN5cudnn6detail17wgrad_alg0_engineIfEEv")

SIM_CUDNN_RUN(cudnnConvolutionBackwardBias,
              (cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t, const void*, const void*,
               cudnnTensorDescriptor_t, void*),
              "_ZN5cudnn3ops15biasGrad_kernelEv")

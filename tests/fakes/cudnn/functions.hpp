// The functions of the simulated cuDNN, by the sub-library that holds them: libcudnn.so.9 itself only forwards.
//
//   X(return type, name, (parameters), (arguments))
//
// Prototypes are checked against cudnn.h where the functions are defined.
#pragma once

#include <cudnn.h>

// clang-format off
#define SIM_CUDNN_GRAPH(X)                                                                                               \
    X(size_t, cudnnGetVersion, (), ())                                                                                   \
    X(size_t, cudnnGetCudartVersion, (), ())                                                                             \
    X(const char*, cudnnGetErrorString, (cudnnStatus_t status), (status))                                                \
    X(cudnnStatus_t, cudnnCreate, (cudnnHandle_t * handle), (handle))                                                    \
    X(cudnnStatus_t, cudnnDestroy, (cudnnHandle_t handle), (handle))                                                     \
    X(cudnnStatus_t, cudnnSetStream, (cudnnHandle_t handle, cudaStream_t stream), (handle, stream))                      \
    X(cudnnStatus_t, cudnnGetStream, (cudnnHandle_t handle, cudaStream_t * stream), (handle, stream))                    \
    X(cudnnStatus_t, cudnnBackendCreateDescriptor,                                                                       \
      (cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t * descriptor), (type, descriptor))                    \
    X(cudnnStatus_t, cudnnBackendDestroyDescriptor, (cudnnBackendDescriptor_t descriptor), (descriptor))                 \
    X(cudnnStatus_t, cudnnBackendSetAttribute,                                                                           \
      (cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,          \
       int64_t count, const void* values), (descriptor, name, type, count, values))                                      \
    X(cudnnStatus_t, cudnnBackendGetAttribute,                                                                           \
      (cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,          \
       int64_t asked, int64_t * filled, void* values), (descriptor, name, type, asked, filled, values))                  \
    X(cudnnStatus_t, cudnnBackendFinalize, (cudnnBackendDescriptor_t descriptor), (descriptor))                          \
    X(cudnnStatus_t, cudnnBackendExecute,                                                                                \
      (cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t variants),                          \
      (handle, plan, variants))

#define SIM_CUDNN_CNN(X)                                                                                                 \
    X(cudnnStatus_t, cudnnCreateConvolutionDescriptor, (cudnnConvolutionDescriptor_t * descriptor), (descriptor))        \
    X(cudnnStatus_t, cudnnDestroyConvolutionDescriptor, (cudnnConvolutionDescriptor_t descriptor), (descriptor))         \
    X(cudnnStatus_t, cudnnConvolutionForward,                                                                            \
      (cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x_desc, const void* x,                           \
       cudnnFilterDescriptor_t w_desc, const void* w, cudnnConvolutionDescriptor_t conv, cudnnConvolutionFwdAlgo_t algo, \
       void* workspace, size_t bytes, const void* beta, cudnnTensorDescriptor_t y_desc, void* y),                        \
      (handle, alpha, x_desc, x, w_desc, w, conv, algo, workspace, bytes, beta, y_desc, y))                              \
    X(cudnnStatus_t, cudnnConvolutionBackwardData,                                                                       \
      (cudnnHandle_t handle, const void* alpha, cudnnFilterDescriptor_t w_desc, const void* w,                           \
       cudnnTensorDescriptor_t dy_desc, const void* dy, cudnnConvolutionDescriptor_t conv,                               \
       cudnnConvolutionBwdDataAlgo_t algo, void* workspace, size_t bytes, const void* beta,                              \
       cudnnTensorDescriptor_t dx_desc, void* dx),                                                                       \
      (handle, alpha, w_desc, w, dy_desc, dy, conv, algo, workspace, bytes, beta, dx_desc, dx))                          \
    X(cudnnStatus_t, cudnnConvolutionBackwardFilter,                                                                     \
      (cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x_desc, const void* x,                           \
       cudnnTensorDescriptor_t dy_desc, const void* dy, cudnnConvolutionDescriptor_t conv,                               \
       cudnnConvolutionBwdFilterAlgo_t algo, void* workspace, size_t bytes, const void* beta,                            \
       cudnnFilterDescriptor_t dw_desc, void* dw),                                                                       \
      (handle, alpha, x_desc, x, dy_desc, dy, conv, algo, workspace, bytes, beta, dw_desc, dw))                          \
    X(cudnnStatus_t, cudnnConvolutionBackwardBias,                                                                       \
      (cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t dy_desc, const void* dy, const void* beta,       \
       cudnnTensorDescriptor_t db_desc, void* db), (handle, alpha, dy_desc, dy, beta, db_desc, db))

#define SIM_CUDNN_ADV(X)                                                                                                 \
    X(cudnnStatus_t, cudnnCreateRNNDescriptor, (cudnnRNNDescriptor_t * descriptor), (descriptor))                        \
    X(cudnnStatus_t, cudnnCreateRNNDataDescriptor, (cudnnRNNDataDescriptor_t * descriptor), (descriptor))                \
    X(cudnnStatus_t, cudnnSetRNNDescriptor_v8,                                                                           \
      (cudnnRNNDescriptor_t rnn, cudnnRNNAlgo_t algo, cudnnRNNMode_t cell, cudnnRNNBiasMode_t bias,                      \
       cudnnDirectionMode_t direction, cudnnRNNInputMode_t input_mode, cudnnDataType_t type, cudnnDataType_t math_type,  \
       cudnnMathType_t math, int32_t input, int32_t hidden, int32_t projected, int32_t layers,                           \
       cudnnDropoutDescriptor_t dropout, uint32_t flags),                                                                \
      (rnn, algo, cell, bias, direction, input_mode, type, math_type, math, input, hidden, projected, layers, dropout,   \
       flags))                                                                                                           \
    X(cudnnStatus_t, cudnnSetRNNDataDescriptor,                                                                          \
      (cudnnRNNDataDescriptor_t data, cudnnDataType_t type, cudnnRNNDataLayout_t layout, int longest, int batch,         \
       int size, const int* lengths, void* padding), (data, type, layout, longest, batch, size, lengths, padding))       \
    X(cudnnStatus_t, cudnnRNNForward,                                                                                    \
      (cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t mode, const int32_t* lengths,                  \
       cudnnRNNDataDescriptor_t x_desc, const void* x, cudnnRNNDataDescriptor_t y_desc, void* y,                         \
       cudnnTensorDescriptor_t h_desc, const void* hx, void* hy, cudnnTensorDescriptor_t c_desc, const void* cx,         \
       void* cy, size_t weight_bytes, const void* weights, size_t work_bytes, void* work, size_t reserve_bytes,          \
       void* reserve),                                                                                                   \
      (handle, rnn, mode, lengths, x_desc, x, y_desc, y, h_desc, hx, hy, c_desc, cx, cy, weight_bytes, weights,          \
       work_bytes, work, reserve_bytes, reserve))

#define SIM_CUDNN_OPS(X)                                                                                                 \
    X(cudnnStatus_t, cudnnCreateTensorDescriptor, (cudnnTensorDescriptor_t * descriptor), (descriptor))                  \
    X(cudnnStatus_t, cudnnDestroyTensorDescriptor, (cudnnTensorDescriptor_t descriptor), (descriptor))                   \
    X(cudnnStatus_t, cudnnSetTensor4dDescriptor,                                                                         \
      (cudnnTensorDescriptor_t descriptor, cudnnTensorFormat_t format, cudnnDataType_t type, int n, int c, int h, int w),\
      (descriptor, format, type, n, c, h, w))                                                                            \
    X(cudnnStatus_t, cudnnCreateFilterDescriptor, (cudnnFilterDescriptor_t * descriptor), (descriptor))                  \
    X(cudnnStatus_t, cudnnDestroyFilterDescriptor, (cudnnFilterDescriptor_t descriptor), (descriptor))                   \
    X(cudnnStatus_t, cudnnActivationForward,                                                                             \
      (cudnnHandle_t handle, cudnnActivationDescriptor_t activation, const void* alpha, cudnnTensorDescriptor_t x_desc,  \
       const void* x, const void* beta, cudnnTensorDescriptor_t y_desc, void* y),                                        \
      (handle, activation, alpha, x_desc, x, beta, y_desc, y))                                                           \
    X(cudnnStatus_t, cudnnPoolingForward,                                                                                \
      (cudnnHandle_t handle, cudnnPoolingDescriptor_t pooling, const void* alpha, cudnnTensorDescriptor_t x_desc,        \
       const void* x, const void* beta, cudnnTensorDescriptor_t y_desc, void* y),                                        \
      (handle, pooling, alpha, x_desc, x, beta, y_desc, y))                                                              \
    X(cudnnStatus_t, cudnnBatchNormalizationForwardInference,                                                            \
      (cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,                             \
       cudnnTensorDescriptor_t x_desc, const void* x, cudnnTensorDescriptor_t y_desc, void* y,                           \
       cudnnTensorDescriptor_t scale_desc, const void* scale, const void* bias, const void* mean, const void* variance,  \
       double epsilon),                                                                                                  \
      (handle, mode, alpha, beta, x_desc, x, y_desc, y, scale_desc, scale, bias, mean, variance, epsilon))               \
    X(cudnnStatus_t, cudnnBatchNormalizationForwardTraining,                                                             \
      (cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,                             \
       cudnnTensorDescriptor_t x_desc, const void* x, cudnnTensorDescriptor_t y_desc, void* y,                           \
       cudnnTensorDescriptor_t scale_desc, const void* scale, const void* bias, double factor, void* mean,               \
       void* variance, double epsilon, void* saved_mean, void* saved_variance),                                          \
      (handle, mode, alpha, beta, x_desc, x, y_desc, y, scale_desc, scale, bias, factor, mean, variance, epsilon,        \
       saved_mean, saved_variance))                                                                                      \
    X(cudnnStatus_t, cudnnBatchNormalizationForwardTrainingEx,                                                           \
      (cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t ops, const void* alpha, const void* beta,    \
       cudnnTensorDescriptor_t x_desc, const void* x, cudnnTensorDescriptor_t z_desc, const void* z,                     \
       cudnnTensorDescriptor_t y_desc, void* y, cudnnTensorDescriptor_t scale_desc, const void* scale, const void* bias, \
       double factor, void* mean, void* variance, double epsilon, void* saved_mean, void* saved_variance,                \
       cudnnActivationDescriptor_t activation, void* workspace, size_t bytes, void* reserve, size_t reserve_bytes),      \
      (handle, mode, ops, alpha, beta, x_desc, x, z_desc, z, y_desc, y, scale_desc, scale, bias, factor, mean, variance, \
       epsilon, saved_mean, saved_variance, activation, workspace, bytes, reserve, reserve_bytes))                       \
    X(cudnnStatus_t, cudnnBatchNormalizationBackwardEx,                                                                  \
      (cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t ops, const void* alpha_data,                 \
       const void* beta_data, const void* alpha_param, const void* beta_param, cudnnTensorDescriptor_t x_desc,           \
       const void* x, cudnnTensorDescriptor_t y_desc, const void* y, cudnnTensorDescriptor_t dy_desc, const void* dy,    \
       cudnnTensorDescriptor_t dz_desc, void* dz, cudnnTensorDescriptor_t dx_desc, void* dx,                             \
       cudnnTensorDescriptor_t scale_desc, const void* scale, const void* bias, void* d_scale, void* d_bias,             \
       double epsilon, const void* saved_mean, const void* saved_variance, cudnnActivationDescriptor_t activation,       \
       void* workspace, size_t bytes, void* reserve, size_t reserve_bytes),                                              \
      (handle, mode, ops, alpha_data, beta_data, alpha_param, beta_param, x_desc, x, y_desc, y, dy_desc, dy, dz_desc,    \
       dz, dx_desc, dx, scale_desc, scale, bias, d_scale, d_bias, epsilon, saved_mean, saved_variance, activation,       \
       workspace, bytes, reserve, reserve_bytes))
// clang-format on

// libcudnn_graph.so.9: handles and the graph API.
#include "tests/fakes/cudnn/handle.hpp"

extern "C" {

size_t CUDNNWINAPI cudnnGetVersion() {
    return CUDNN_VERSION;
}
size_t CUDNNWINAPI cudnnGetCudartVersion() {
    return CUDART_VERSION;
}

const char* CUDNNWINAPI cudnnGetErrorString(cudnnStatus_t status) {
    switch (status) {
        case CUDNN_STATUS_SUCCESS:
            return "CUDNN_STATUS_SUCCESS";
        case CUDNN_STATUS_NOT_INITIALIZED:
            return "CUDNN_STATUS_NOT_INITIALIZED";
        case CUDNN_STATUS_BAD_PARAM:
            return "CUDNN_STATUS_BAD_PARAM";
        case CUDNN_STATUS_EXECUTION_FAILED:
            return "CUDNN_STATUS_EXECUTION_FAILED";
        default:
            return "CUDNN_UNKNOWN_STATUS";
    }
}

cudnnStatus_t CUDNNWINAPI cudnnCreate(cudnnHandle_t* handle) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        return CUDNN_STATUS_NOT_INITIALIZED;
    }
    *handle = new cudnnContext;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnDestroy(cudnnHandle_t handle) {
    delete handle;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
    *stream = handle->stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CUDNNWINAPI cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t,
                                                       cudnnBackendDescriptor_t* descriptor) {
    *descriptor = new char;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
    delete static_cast<char*>(descriptor);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnBackendSetAttribute(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                                   cudnnBackendAttributeType_t, int64_t, const void*) {
    return CUDNN_STATUS_SUCCESS;
}
/// What was asked for is all there.
cudnnStatus_t CUDNNWINAPI cudnnBackendGetAttribute(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                                   cudnnBackendAttributeType_t, int64_t asked, int64_t* filled, void*) {
    *filled = asked;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CUDNNWINAPI cudnnBackendFinalize(cudnnBackendDescriptor_t) {
    return CUDNN_STATUS_SUCCESS;
}
}

SIM_CUDNN_RUN(cudnnBackendExecute, (cudnnHandle_t handle, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t),
              "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64",
              "_ZN5cudnn3ops10scalarMulEEv")

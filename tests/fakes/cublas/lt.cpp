// libcublasLt: one kernel a product.
#include <cublasLt.h>

#include <cstring>

#include "tests/fakes/cublas/handles.hpp"

namespace {

template <class Opaque>
cublasStatus_t make(Opaque** out) {
    *out = static_cast<Opaque*>(std::calloc(1, sizeof(Opaque)));
    return *out != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

}  // namespace

extern "C" {

size_t CUBLASWINAPI cublasLtGetVersion() {
    return 130000;
}

cublasStatus_t CUBLASWINAPI cublasLtCreate(cublasLtHandle_t* handle) {
    *handle = reinterpret_cast<cublasLtHandle_t>(new cublasContext);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtDestroy(cublasLtHandle_t handle) {
    delete reinterpret_cast<cublasContext*>(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType, uint64_t, uint64_t,
                                                       int64_t) {
    return make(layout);
}
cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    std::free(layout);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t,
                                                             const void*, size_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t,
                                                     cudaDataType_t) {
    return make(description);
}
cublasStatus_t CUBLASWINAPI cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
    std::free(description);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t CUBLASWINAPI cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t,
                                                           const void*, size_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
    return make(preference);
}
cublasStatus_t CUBLASWINAPI cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    std::free(preference);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t CUBLASWINAPI cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                                 cublasLtMatmulPreferenceAttributes_t, const void*,
                                                                 size_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                                           cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                           cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                           cublasLtMatmulPreference_t, int wanted,
                                                           cublasLtMatmulHeuristicResult_t results[], int* found) {
    if (wanted < 1) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    std::memset(&results[0], 0, sizeof results[0]);
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t, const void*, const void*,
                                           cublasLtMatrixLayout_t, const void*, cublasLtMatrixLayout_t, const void*,
                                           const void*, cublasLtMatrixLayout_t, void*, cublasLtMatrixLayout_t,
                                           const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t stream) {
    static sim::Injection injection("cublasLtMatmul");
    const int injected = injection.next();
    if (handle == nullptr || injected != 0) {
        return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : static_cast<cublasStatus_t>(injected);
    }
    return sim::cublas::status(sim::launch_kernels(stream, {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NNT"}));
}
}

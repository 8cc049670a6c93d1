// What a handle of cuBLAS holds.
#pragma once

#include <cublas_api.h>

#include <cstring>

#include "tests/fakes/common/injection.hpp"
#include "tests/fakes/common/library_kernels.hpp"

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
};

namespace sim::cublas {

inline cublasStatus_t status(cudaError_t error) {
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace sim::cublas

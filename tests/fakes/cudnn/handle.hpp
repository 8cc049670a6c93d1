// What a handle of cuDNN holds, and how its functions launch.
#pragma once

#include <cudnn.h>

#include "tests/fakes/common/injection.hpp"
#include "tests/fakes/common/library_kernels.hpp"

struct cudnnContext {
    cudaStream_t stream = nullptr;
};

namespace sim::cudnn {

inline cudnnStatus_t run(cudnnHandle_t handle, Injection& injection, std::initializer_list<const char*> kernels) {
    const int injected = injection.next();
    if (handle == nullptr || injected != 0) {
        return handle == nullptr ? CUDNN_STATUS_BAD_PARAM : static_cast<cudnnStatus_t>(injected);
    }
    return launch_kernels(handle->stream, kernels) == cudaSuccess ? CUDNN_STATUS_SUCCESS
                                                                  : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace sim::cudnn

/// A function that launches the kernels named after its parameters.
#define SIM_CUDNN_RUN(name, PARAMETERS, ...)                      \
    extern "C" cudnnStatus_t CUDNNWINAPI name PARAMETERS {        \
        static sim::Injection injection(#name);                   \
        return sim::cudnn::run(handle, injection, {__VA_ARGS__}); \
    }

#include "tests/fakes/cudart/call.hpp"

namespace sim::runtime {
namespace {

cudaError_t ensure_context(const Table& cu) {
    CUcontext context = nullptr;
    CUresult result = cu.cuCtxGetCurrent(&context);
    if (result == CUDA_SUCCESS && context == nullptr) {
        result = cu.cuDevicePrimaryCtxRetain(&context, current_device());
        if (result == CUDA_SUCCESS) {
            result = cu.cuCtxSetCurrent(context);
        }
    }
    return to_runtime(result);
}

}  // namespace

cudaError_t& last_error() {
    thread_local cudaError_t error = cudaSuccess;
    return error;
}

int& current_device() {
    thread_local int device = 0;
    return device;
}

cudaError_t note(cudaError_t error) {
    if (error != cudaSuccess && error != cudaErrorNotReady) {
        last_error() = error;
    }
    return error;
}

cudaError_t prepare(Needs needs, Binding binding, Injection& injection, const Table*& table) {
    static const Table nothing{};
    table = &nothing;
    if (needs != Needs::kNothing) {
        table = find_table(binding);
        if (table == nullptr) {
            return cudaErrorInsufficientDriver;
        }
        static const CUresult initialised = table->cuInit(0);
        if (initialised != CUDA_SUCCESS) {
            return to_runtime(initialised);
        }
    }
    if (needs == Needs::kContext) {
        const cudaError_t made = ensure_context(*table);
        if (made != cudaSuccess) {
            return made;
        }
    }
    return static_cast<cudaError_t>(injection.next());
}

}  // namespace sim::runtime

#include <vector>

#include "tests/fakes/cudart/kernels.hpp"

using sim::runtime::find_function;
using sim::runtime::Table;
using sim::runtime::to_runtime;

namespace {

struct Configuration {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes;
    cudaStream_t stream;
};

std::vector<Configuration>& configurations() {
    thread_local std::vector<Configuration> stack;
    return stack;
}

cudaError_t launch(const Table& cu, CUfunction function, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared_bytes, cudaStream_t stream) {
    return to_runtime(cu.cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                        static_cast<unsigned>(shared_bytes), stream, arguments, nullptr));
}

}  // namespace

SIM_RT_STREAM(cudaLaunchKernel, _ptsz,
              (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
               cudaStream_t stream),
              (function, grid, block, arguments, shared_bytes, stream)) {
    CUfunction found = nullptr;
    const cudaError_t result = find_function(cu, function, found);
    return result != cudaSuccess ? result : launch(cu, found, grid, block, arguments, shared_bytes, stream);
}

SIM_RT_STREAM(cudaLaunchKernelExC, _ptsz, (const cudaLaunchConfig_t* config, const void* function, void** arguments),
              (config, function, arguments)) {
    CUfunction found = nullptr;
    const cudaError_t result = find_function(cu, function, found);
    if (result != cudaSuccess) {
        return result;
    }
    CUlaunchConfig launch{};
    launch.gridDimX = config->gridDim.x;
    launch.gridDimY = config->gridDim.y;
    launch.gridDimZ = config->gridDim.z;
    launch.blockDimX = config->blockDim.x;
    launch.blockDimY = config->blockDim.y;
    launch.blockDimZ = config->blockDim.z;
    launch.sharedMemBytes = static_cast<unsigned>(config->dynamicSmemBytes);
    launch.hStream = config->stream;
    launch.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);  // The runtime's type has the driver's layout.
    launch.numAttrs = config->numAttrs;
    return to_runtime(cu.cuLaunchKernelEx(&launch, found, arguments, nullptr));
}

SIM_RT_STREAM(cudaLaunchCooperativeKernel, _ptsz,
              (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
               cudaStream_t stream),
              (function, grid, block, arguments, shared_bytes, stream)) {
    CUfunction found = nullptr;
    const cudaError_t result = find_function(cu, function, found);
    return result != cudaSuccess
               ? result
               : to_runtime(cu.cuLaunchCooperativeKernel(found, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                         static_cast<unsigned>(shared_bytes), stream, arguments));
}

SIM_RT_STREAM(cudaLaunchHostFunc, _ptsz, (cudaStream_t stream, cudaHostFn_t function, void* data),
              (stream, function, data)) {
    return to_runtime(cu.cuLaunchHostFunc(stream, function, data));
}

#if SIM_CUDART_MAJOR <= 10
extern "C" cudaError_t cudaConfigureCall(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
    configurations().push_back({grid, block, shared_bytes, stream});
    return cudaSuccess;
}

extern "C" cudaError_t cudaSetupArgument(const void*, std::size_t, std::size_t) {
    return configurations().empty() ? cudaErrorMissingConfiguration : cudaSuccess;
}

SIM_RT_STREAM(cudaLaunch, _ptsz, (const void* function), (function)) {
    if (configurations().empty()) {
        return cudaErrorMissingConfiguration;
    }
    const Configuration with = configurations().back();
    configurations().pop_back();
    CUfunction found = nullptr;
    const cudaError_t result = find_function(cu, function, found);
    return result != cudaSuccess ? result
                                 : launch(cu, found, with.grid, with.block, nullptr, with.shared_bytes, with.stream);
}
#endif

#if SIM_CUDART_MAJOR >= 13
SIM_RT_STREAM(__cudaLaunchKernel, _ptsz,
              (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
               cudaStream_t stream),
              (kernel, grid, block, arguments, shared_bytes, stream)) {
    return launch(cu, reinterpret_cast<CUfunction>(kernel), grid, block, arguments, shared_bytes, stream);
}
#endif

extern "C" unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                                          CUstream_st* stream) {
    configurations().push_back({grid, block, shared_bytes, stream});
    return 0;
}

extern "C" cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                                            void* stream) {
    if (configurations().empty()) {
        return cudaErrorMissingConfiguration;
    }
    const Configuration& last = configurations().back();
    *grid = last.grid;
    *block = last.block;
    *shared_bytes = last.shared_bytes;
    *static_cast<cudaStream_t*>(stream) = last.stream;
    configurations().pop_back();
    return cudaSuccess;
}

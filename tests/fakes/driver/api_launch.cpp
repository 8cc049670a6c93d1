// Launches.
#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/work.hpp"

using sim::driver;

namespace {

constexpr unsigned kMaxThreadsPerBlock = 1024;

CUresult launch(CUfunction function, const sim::Dim3& grid, const sim::Dim3& block, unsigned dynamic_shared_bytes,
                bool cooperative, CUstream stream) {
    sim::Work work;
    work.type = CU_GRAPH_NODE_TYPE_KERNEL;
    work.function = function;
    work.grid = grid;
    work.block = block;
    work.dynamic_shared_bytes = dynamic_shared_bytes;
    work.cooperative = cooperative;
    {
        const sim::Lock lock(driver().mutex);
        if (!driver().functions.contains(function)) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (grid[axis] == 0 || block[axis] == 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (block[0] * block[1] * block[2] > kMaxThreadsPerBlock) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return sim::submit(stream, work);
}

/// State of the launches of CUDA 2 and 3, which set the block's shape first.
struct OldShape {
    sim::Dim3 block{1, 1, 1};
    unsigned dynamic_shared_bytes = 0;
};

OldShape& old_shape() {
    static OldShape shape;
    return shape;
}

CUresult launch_host_function(CUstream stream, CUhostFn function, void* data) {
    if (function == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    sim::Work work;
    work.type = CU_GRAPH_NODE_TYPE_HOST;
    work.host_function = function;
    work.host_data = data;
    return sim::submit(stream, work);
}

}  // namespace

SIM_API_STREAM(cuLaunchKernel, , 4000, _ptsz, 7000,
               (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                [[maybe_unused]] void** arguments, [[maybe_unused]] void** extra),
               (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments, extra)) {
    return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, false, stream);
}

SIM_API_STREAM(cuLaunchKernelEx, , 11060, _ptsz, 11060,
               (const CUlaunchConfig* config, CUfunction function, [[maybe_unused]] void** arguments,
                [[maybe_unused]] void** extra),
               (config, function, arguments, extra)) {
    if (config == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return launch(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                  {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes, false,
                  config->hStream);
}

SIM_API_STREAM(cuLaunchCooperativeKernel, , 9000, _ptsz, 9000,
               (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                [[maybe_unused]] void** arguments),
               (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments)) {
    return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, true, stream);
}

SIM_API(cuLaunchCooperativeKernelMultiDevice, , 9000,
        (CUDA_LAUNCH_PARAMS * launches, unsigned count, [[maybe_unused]] unsigned flags), (launches, count, flags)) {
    for (unsigned index = 0; index < count; ++index) {
        const CUDA_LAUNCH_PARAMS& one = launches[index];
        const CUresult result =
            launch(one.function, {one.gridDimX, one.gridDimY, one.gridDimZ},
                   {one.blockDimX, one.blockDimY, one.blockDimZ}, one.sharedMemBytes, true, one.hStream);
        if (result != CUDA_SUCCESS) {
            return result;
        }
    }
    return CUDA_SUCCESS;
}

SIM_API(cuFuncSetBlockShape, , 2000, ([[maybe_unused]] CUfunction function, int x, int y, int z), (function, x, y, z)) {
    old_shape().block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    return CUDA_SUCCESS;
}
SIM_API(cuFuncSetSharedSize, , 2000, ([[maybe_unused]] CUfunction function, unsigned bytes), (function, bytes)) {
    old_shape().dynamic_shared_bytes = bytes;
    return CUDA_SUCCESS;
}
SIM_API(cuLaunch, , 2000, (CUfunction function), (function)) {
    return launch(function, {1, 1, 1}, old_shape().block, old_shape().dynamic_shared_bytes, false, nullptr);
}
SIM_API(cuLaunchGrid, , 2000, (CUfunction function, int width, int height), (function, width, height)) {
    return launch(function, {static_cast<unsigned>(width), static_cast<unsigned>(height), 1}, old_shape().block,
                  old_shape().dynamic_shared_bytes, false, nullptr);
}
SIM_API(cuLaunchGridAsync, , 2000, (CUfunction function, int width, int height, CUstream stream),
        (function, width, height, stream)) {
    return launch(function, {static_cast<unsigned>(width), static_cast<unsigned>(height), 1}, old_shape().block,
                  old_shape().dynamic_shared_bytes, false, stream);
}

SIM_API_STREAM(cuLaunchHostFunc, , 10000, _ptsz, 10000, (CUstream stream, CUhostFn callback, void* data),
               (stream, callback, data)) {
    return launch_host_function(stream, callback, data);
}

// A form of cuLaunchKernel that no toolkit has yet: what a driver of CUDA 14 could give for that name. It is exported.
extern "C" CUresult CUDAAPI cuLaunchKernel_v14(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                               unsigned block_x, unsigned block_y, unsigned block_z,
                                               unsigned shared_bytes, CUstream stream, void**, void**);
static sim::EntryPoint newer_entry{"cuLaunchKernel",
                                   "cuLaunchKernel_v14",
                                   14000,
                                   sim::Binding::kLegacy,
                                   reinterpret_cast<void*>(&cuLaunchKernel_v14),
                                   0};
CUresult CUDAAPI cuLaunchKernel_v14(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                    CUstream stream, void**, void**) {
    return sim::call(newer_entry, nullptr, sim::launched_name(function), [&] {
        return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, false, stream);
    });
}

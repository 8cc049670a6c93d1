// Parameters of the runtime as the driver takes them.
#pragma once

#include "tests/fakes/cudart/call.hpp"

namespace sim::runtime {

inline CUDA_MEMCPY3D to_driver(const cudaMemcpy3DParms& from) {
    CUDA_MEMCPY3D copy{};
    copy.srcXInBytes = from.srcPos.x;
    copy.srcY = from.srcPos.y;
    copy.srcZ = from.srcPos.z;
    copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = reinterpret_cast<CUdeviceptr>(from.srcPtr.ptr);
    copy.srcPitch = from.srcPtr.pitch;
    copy.srcHeight = from.srcPtr.ysize;
    copy.dstXInBytes = from.dstPos.x;
    copy.dstY = from.dstPos.y;
    copy.dstZ = from.dstPos.z;
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(from.dstPtr.ptr);
    copy.dstPitch = from.dstPtr.pitch;
    copy.dstHeight = from.dstPtr.ysize;
    if (from.srcArray != nullptr) {
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = reinterpret_cast<CUarray>(from.srcArray);
    }
    if (from.dstArray != nullptr) {
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = reinterpret_cast<CUarray>(from.dstArray);
    }
    copy.WidthInBytes = from.extent.width;
    copy.Height = from.extent.height;
    copy.Depth = from.extent.depth;
    return copy;
}

inline CUDA_MEMSET_NODE_PARAMS to_driver(const cudaMemsetParams& from) {
    CUDA_MEMSET_NODE_PARAMS set{};
    set.dst = reinterpret_cast<CUdeviceptr>(from.dst);
    set.pitch = from.pitch;
    set.value = from.value;
    set.elementSize = from.elementSize;
    set.width = from.width;
    set.height = from.height;
    return set;
}

}  // namespace sim::runtime

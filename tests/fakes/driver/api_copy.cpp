// Copies and sets: synchronous ones on the default stream, asynchronous ones on theirs.
#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/work.hpp"

namespace {

CUresult now(sim::Work work) {
    work.synchronous = true;
    return sim::submit(nullptr, work);
}

const void* device_memory(CUdeviceptr pointer) {
    return reinterpret_cast<const void*>(pointer);
}

/// A copy of `bytes` where one end or both is an array.
sim::Work array_copy(CUarray destination, std::size_t destination_offset, const void* destination_memory,
                     CUarray source, std::size_t source_offset, const void* source_memory, std::size_t bytes) {
    sim::Work work = sim::linear_copy(destination_memory, source_memory, bytes);
    if (destination != nullptr) {
        work.copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        work.copy.dstArray = destination;
        work.copy.dstXInBytes = destination_offset;
    }
    if (source != nullptr) {
        work.copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        work.copy.srcArray = source;
        work.copy.srcXInBytes = source_offset;
    }
    return work;
}

sim::Work copy_2d(const CUDA_MEMCPY2D& copy) {
    CUDA_MEMCPY3D wide{};
    wide.srcXInBytes = copy.srcXInBytes;
    wide.srcY = copy.srcY;
    wide.srcMemoryType = copy.srcMemoryType;
    wide.srcHost = copy.srcHost;
    wide.srcDevice = copy.srcDevice;
    wide.srcArray = copy.srcArray;
    wide.srcPitch = copy.srcPitch;
    wide.dstXInBytes = copy.dstXInBytes;
    wide.dstY = copy.dstY;
    wide.dstMemoryType = copy.dstMemoryType;
    wide.dstHost = copy.dstHost;
    wide.dstDevice = copy.dstDevice;
    wide.dstArray = copy.dstArray;
    wide.dstPitch = copy.dstPitch;
    wide.WidthInBytes = copy.WidthInBytes;
    wide.Height = copy.Height;
    wide.Depth = 1;
    return sim::strided_copy(wide);
}

sim::Work copy_3d_peer(const CUDA_MEMCPY3D_PEER& copy) {
    CUDA_MEMCPY3D plain{};
    plain.srcXInBytes = copy.srcXInBytes;
    plain.srcY = copy.srcY;
    plain.srcZ = copy.srcZ;
    plain.srcMemoryType = copy.srcMemoryType;
    plain.srcHost = copy.srcHost;
    plain.srcDevice = copy.srcDevice;
    plain.srcArray = copy.srcArray;
    plain.srcPitch = copy.srcPitch;
    plain.srcHeight = copy.srcHeight;
    plain.dstXInBytes = copy.dstXInBytes;
    plain.dstY = copy.dstY;
    plain.dstZ = copy.dstZ;
    plain.dstMemoryType = copy.dstMemoryType;
    plain.dstHost = copy.dstHost;
    plain.dstDevice = copy.dstDevice;
    plain.dstArray = copy.dstArray;
    plain.dstPitch = copy.dstPitch;
    plain.dstHeight = copy.dstHeight;
    plain.WidthInBytes = copy.WidthInBytes;
    plain.Height = copy.Height;
    plain.Depth = copy.Depth;
    return sim::strided_copy(plain);
}

}  // namespace

SIM_API_STREAM(cuMemcpy, , 4000, _ptds, 7000, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes),
               (to, from, bytes)) {
    return now(sim::linear_copy(device_memory(to), device_memory(from), bytes));
}
SIM_API_STREAM(cuMemcpyAsync, , 4000, _ptsz, 7000,
               (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream), (to, from, bytes, stream)) {
    return sim::submit(stream, sim::linear_copy(device_memory(to), device_memory(from), bytes));
}
SIM_API_STREAM(cuMemcpyPeer, , 4000, _ptds, 7000,
               (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, std::size_t bytes),
               (to, to_context, from, from_context, bytes)) {
    return to_context == nullptr || from_context == nullptr
               ? CUDA_ERROR_INVALID_CONTEXT
               : now(sim::linear_copy(device_memory(to), device_memory(from), bytes));
}
SIM_API_STREAM(cuMemcpyPeerAsync, , 4000, _ptsz, 7000,
               (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, std::size_t bytes,
                CUstream stream),
               (to, to_context, from, from_context, bytes, stream)) {
    return to_context == nullptr || from_context == nullptr
               ? CUDA_ERROR_INVALID_CONTEXT
               : sim::submit(stream, sim::linear_copy(device_memory(to), device_memory(from), bytes));
}

SIM_API_V1(cuMemcpyHtoD, 2000, (CUdeviceptr_v1, const void*, unsigned));
SIM_API_STREAM(cuMemcpyHtoD, _v2, 3020, _ptds, 7000, (CUdeviceptr to, const void* from, std::size_t bytes),
               (to, from, bytes)) {
    return now(sim::linear_copy(device_memory(to), from, bytes));
}
SIM_API_V1(cuMemcpyHtoDAsync, 2000, (CUdeviceptr_v1, const void*, unsigned, CUstream));
SIM_API_STREAM(cuMemcpyHtoDAsync, _v2, 3020, _ptsz, 7000,
               (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream), (to, from, bytes, stream)) {
    return sim::submit(stream, sim::linear_copy(device_memory(to), from, bytes));
}
SIM_API_V1(cuMemcpyDtoH, 2000, (void*, CUdeviceptr_v1, unsigned));
SIM_API_STREAM(cuMemcpyDtoH, _v2, 3020, _ptds, 7000, (void* to, CUdeviceptr from, std::size_t bytes),
               (to, from, bytes)) {
    return now(sim::linear_copy(to, device_memory(from), bytes));
}
SIM_API_V1(cuMemcpyDtoHAsync, 2000, (void*, CUdeviceptr_v1, unsigned, CUstream));
SIM_API_STREAM(cuMemcpyDtoHAsync, _v2, 3020, _ptsz, 7000,
               (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream), (to, from, bytes, stream)) {
    return sim::submit(stream, sim::linear_copy(to, device_memory(from), bytes));
}
SIM_API_V1(cuMemcpyDtoD, 2000, (CUdeviceptr_v1, CUdeviceptr_v1, unsigned));
SIM_API_STREAM(cuMemcpyDtoD, _v2, 3020, _ptds, 7000, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes),
               (to, from, bytes)) {
    return now(sim::linear_copy(device_memory(to), device_memory(from), bytes));
}
SIM_API_V1(cuMemcpyDtoDAsync, 3000, (CUdeviceptr_v1, CUdeviceptr_v1, unsigned, CUstream));
SIM_API_STREAM(cuMemcpyDtoDAsync, _v2, 3020, _ptsz, 7000,
               (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream), (to, from, bytes, stream)) {
    return sim::submit(stream, sim::linear_copy(device_memory(to), device_memory(from), bytes));
}

SIM_API_V1(cuMemcpyHtoA, 2000, (CUarray, unsigned, const void*, unsigned));
SIM_API_STREAM(cuMemcpyHtoA, _v2, 3020, _ptds, 7000,
               (CUarray to, std::size_t offset, const void* from, std::size_t bytes), (to, offset, from, bytes)) {
    return now(array_copy(to, offset, nullptr, nullptr, 0, from, bytes));
}
SIM_API_V1(cuMemcpyHtoAAsync, 2000, (CUarray, unsigned, const void*, unsigned, CUstream));
SIM_API_STREAM(cuMemcpyHtoAAsync, _v2, 3020, _ptsz, 7000,
               (CUarray to, std::size_t offset, const void* from, std::size_t bytes, CUstream stream),
               (to, offset, from, bytes, stream)) {
    return sim::submit(stream, array_copy(to, offset, nullptr, nullptr, 0, from, bytes));
}
SIM_API_V1(cuMemcpyAtoH, 2000, (void*, CUarray, unsigned, unsigned));
SIM_API_STREAM(cuMemcpyAtoH, _v2, 3020, _ptds, 7000, (void* to, CUarray from, std::size_t offset, std::size_t bytes),
               (to, from, offset, bytes)) {
    return now(array_copy(nullptr, 0, to, from, offset, nullptr, bytes));
}
SIM_API_V1(cuMemcpyAtoHAsync, 2000, (void*, CUarray, unsigned, unsigned, CUstream));
SIM_API_STREAM(cuMemcpyAtoHAsync, _v2, 3020, _ptsz, 7000,
               (void* to, CUarray from, std::size_t offset, std::size_t bytes, CUstream stream),
               (to, from, offset, bytes, stream)) {
    return sim::submit(stream, array_copy(nullptr, 0, to, from, offset, nullptr, bytes));
}
SIM_API_V1(cuMemcpyDtoA, 2000, (CUarray, unsigned, CUdeviceptr_v1, unsigned));
SIM_API_STREAM(cuMemcpyDtoA, _v2, 3020, _ptds, 7000,
               (CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes), (to, offset, from, bytes)) {
    return now(array_copy(to, offset, nullptr, nullptr, 0, device_memory(from), bytes));
}
SIM_API_V1(cuMemcpyAtoD, 2000, (CUdeviceptr_v1, CUarray, unsigned, unsigned));
SIM_API_STREAM(cuMemcpyAtoD, _v2, 3020, _ptds, 7000,
               (CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes), (to, from, offset, bytes)) {
    return now(array_copy(nullptr, 0, device_memory(to), from, offset, nullptr, bytes));
}
SIM_API_V1(cuMemcpyAtoA, 2000, (CUarray, unsigned, CUarray, unsigned, unsigned));
SIM_API_STREAM(cuMemcpyAtoA, _v2, 3020, _ptds, 7000,
               (CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset, std::size_t bytes),
               (to, to_offset, from, from_offset, bytes)) {
    return now(array_copy(to, to_offset, nullptr, from, from_offset, nullptr, bytes));
}

SIM_API_V1(cuMemcpy2D, 2000, (const CUDA_MEMCPY2D_v1*));
SIM_API_STREAM(cuMemcpy2D, _v2, 3020, _ptds, 7000, (const CUDA_MEMCPY2D* copy), (copy)) {
    return now(copy_2d(*copy));
}
SIM_API_V1(cuMemcpy2DUnaligned, 2000, (const CUDA_MEMCPY2D_v1*));
SIM_API_STREAM(cuMemcpy2DUnaligned, _v2, 3020, _ptds, 7000, (const CUDA_MEMCPY2D* copy), (copy)) {
    return now(copy_2d(*copy));
}
SIM_API_V1(cuMemcpy2DAsync, 2000, (const CUDA_MEMCPY2D_v1*, CUstream));
SIM_API_STREAM(cuMemcpy2DAsync, _v2, 3020, _ptsz, 7000, (const CUDA_MEMCPY2D* copy, CUstream stream), (copy, stream)) {
    return sim::submit(stream, copy_2d(*copy));
}
SIM_API_V1(cuMemcpy3D, 2000, (const CUDA_MEMCPY3D_v1*));
SIM_API_STREAM(cuMemcpy3D, _v2, 3020, _ptds, 7000, (const CUDA_MEMCPY3D* copy), (copy)) {
    return now(sim::strided_copy(*copy));
}
SIM_API_V1(cuMemcpy3DAsync, 2000, (const CUDA_MEMCPY3D_v1*, CUstream));
SIM_API_STREAM(cuMemcpy3DAsync, _v2, 3020, _ptsz, 7000, (const CUDA_MEMCPY3D* copy, CUstream stream), (copy, stream)) {
    return sim::submit(stream, sim::strided_copy(*copy));
}
SIM_API_STREAM(cuMemcpy3DPeer, , 4000, _ptds, 7000, (const CUDA_MEMCPY3D_PEER* copy), (copy)) {
    return now(copy_3d_peer(*copy));
}
SIM_API_STREAM(cuMemcpy3DPeerAsync, , 4000, _ptsz, 7000, (const CUDA_MEMCPY3D_PEER* copy, CUstream stream),
               (copy, stream)) {
    return sim::submit(stream, copy_3d_peer(*copy));
}

SIM_API_STREAM(cuMemcpyBatchAsync, _v2, 13000, _ptsz, 13000,
               (CUdeviceptr * to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                [[maybe_unused]] CUmemcpyAttributes* attributes, [[maybe_unused]] std::size_t* attribute_indices,
                [[maybe_unused]] std::size_t attribute_count, CUstream stream),
               (to, from, sizes, count, attributes, attribute_indices, attribute_count, stream)) {
    if (stream == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;  // Batches are not for the default streams.
    }
    for (std::size_t index = 0; index < count; ++index) {
        const CUresult result =
            sim::submit(stream, sim::linear_copy(device_memory(to[index]), device_memory(from[index]), sizes[index]));
        if (result != CUDA_SUCCESS) {
            return result;
        }
    }
    return CUDA_SUCCESS;
}

// clang-format off
#define SIM_SET(bits, type)                                                                                              \
    SIM_API_V1(cuMemsetD##bits, 2000, (CUdeviceptr_v1, type, unsigned));                                                 \
    SIM_API_STREAM(cuMemsetD##bits, _v2, 3020, _ptds, 7000, (CUdeviceptr to, type value, std::size_t count),             \
                   (to, value, count)) {                                                                                 \
        return now(sim::memory_set(to, value, (bits) / 8, count, 1, 0));                                                 \
    }                                                                                                                    \
    SIM_API_STREAM(cuMemsetD##bits##Async, , 3020, _ptsz, 7000,                                                          \
                   (CUdeviceptr to, type value, std::size_t count, CUstream stream), (to, value, count, stream)) {       \
        return sim::submit(stream, sim::memory_set(to, value, (bits) / 8, count, 1, 0));                                 \
    }                                                                                                                    \
    SIM_API_V1(cuMemsetD2D##bits, 2000, (CUdeviceptr_v1, unsigned, type, unsigned, unsigned));                           \
    SIM_API_STREAM(cuMemsetD2D##bits, _v2, 3020, _ptds, 7000,                                                            \
                   (CUdeviceptr to, std::size_t pitch, type value, std::size_t width, std::size_t height),               \
                   (to, pitch, value, width, height)) {                                                                  \
        return now(sim::memory_set(to, value, (bits) / 8, width, height, pitch));                                        \
    }                                                                                                                    \
    SIM_API_STREAM(cuMemsetD2D##bits##Async, , 3020, _ptsz, 7000,                                                        \
                   (CUdeviceptr to, std::size_t pitch, type value, std::size_t width, std::size_t height,                \
                    CUstream stream), (to, pitch, value, width, height, stream)) {                                       \
        return sim::submit(stream, sim::memory_set(to, value, (bits) / 8, width, height, pitch));                        \
    }

SIM_SET(8, unsigned char)
SIM_SET(16, unsigned short)
SIM_SET(32, unsigned)
// clang-format on

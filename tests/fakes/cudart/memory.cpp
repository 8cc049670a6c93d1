// Memory, copies, sets.
#include <cstring>

#include "tests/fakes/cudart/call.hpp"
#include "tests/fakes/cudart/convert.hpp"

using sim::runtime::Table;
using sim::runtime::to_runtime;

namespace {

CUdeviceptr device_pointer(const void* pointer) {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

bool valid(cudaMemcpyKind kind) {
    return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

cudaError_t copy(const Table& cu, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (!valid(kind)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    if (bytes == 0) {
        return cudaSuccess;
    }
    switch (kind) {
        case cudaMemcpyHostToDevice:
            return to_runtime(cu.cuMemcpyHtoD(device_pointer(to), from, bytes));
        case cudaMemcpyDeviceToHost:
            return to_runtime(cu.cuMemcpyDtoH(to, device_pointer(from), bytes));
        case cudaMemcpyDeviceToDevice:
            return to_runtime(cu.cuMemcpyDtoD(device_pointer(to), device_pointer(from), bytes));
        default:
            return to_runtime(cu.cuMemcpy(device_pointer(to), device_pointer(from), bytes));
    }
}

cudaError_t copy_async(const Table& cu, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       cudaStream_t stream) {
    if (!valid(kind)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    if (bytes == 0) {
        return cudaSuccess;
    }
    switch (kind) {
        case cudaMemcpyHostToDevice:
            return to_runtime(cu.cuMemcpyHtoDAsync(device_pointer(to), from, bytes, stream));
        case cudaMemcpyDeviceToHost:
            return to_runtime(cu.cuMemcpyDtoHAsync(to, device_pointer(from), bytes, stream));
        case cudaMemcpyDeviceToDevice:
            return to_runtime(cu.cuMemcpyDtoDAsync(device_pointer(to), device_pointer(from), bytes, stream));
        default:
            return to_runtime(cu.cuMemcpyAsync(device_pointer(to), device_pointer(from), bytes, stream));
    }
}

CUDA_MEMCPY2D rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                   std::size_t height) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = device_pointer(from);
    copy.srcPitch = from_pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = device_pointer(to);
    copy.dstPitch = to_pitch;
    copy.WidthInBytes = width;
    copy.Height = height;
    return copy;
}

/// Copies between devices name contexts; on the simulated device each pointer knows its device.
CUcontext any_context(const Table& cu) {
    CUcontext context = nullptr;
    cu.cuCtxGetCurrent(&context);
    return context;
}

}  // namespace

SIM_RT(cudaMalloc, kContext, (void** pointer, std::size_t bytes), (pointer, bytes)) {
    if (pointer == nullptr) {
        return cudaErrorInvalidValue;
    }
    if (bytes == 0) {
        *pointer = nullptr;
        return cudaSuccess;
    }
    CUdeviceptr made = 0;
    const CUresult result = cu.cuMemAlloc(&made, bytes);
    *pointer = result == CUDA_SUCCESS ? reinterpret_cast<void*>(made) : nullptr;
    return to_runtime(result);
}
SIM_RT(cudaFree, kContext, (void* pointer), (pointer)) {
    return to_runtime(cu.cuMemFree(device_pointer(pointer)));
}

SIM_RT(cudaMallocPitch, kContext, (void** pointer, std::size_t* pitch, std::size_t width, std::size_t height),
       (pointer, pitch, width, height)) {
    return to_runtime(cu.cuMemAllocPitch(reinterpret_cast<CUdeviceptr*>(pointer), pitch, width, height, 4));
}
SIM_RT(cudaMallocManaged, kContext, (void** pointer, std::size_t bytes, unsigned flags), (pointer, bytes, flags)) {
    return to_runtime(cu.cuMemAllocManaged(reinterpret_cast<CUdeviceptr*>(pointer), bytes, flags));
}
SIM_RT(cudaMallocHost, kContext, (void** pointer, std::size_t bytes), (pointer, bytes)) {
    return to_runtime(cu.cuMemHostAlloc(pointer, bytes, 0));
}
SIM_RT(cudaHostAlloc, kContext, (void** pointer, std::size_t bytes, unsigned flags), (pointer, bytes, flags)) {
    return to_runtime(cu.cuMemHostAlloc(pointer, bytes, flags));
}
SIM_RT(cudaFreeHost, kContext, (void* pointer), (pointer)) {
    return to_runtime(cu.cuMemFreeHost(pointer));
}
SIM_RT(cudaHostRegister, kContext, (void* pointer, std::size_t bytes, unsigned flags), (pointer, bytes, flags)) {
    return to_runtime(cu.cuMemHostRegister(pointer, bytes, flags));
}
SIM_RT(cudaHostUnregister, kContext, (void* pointer), (pointer)) {
    return to_runtime(cu.cuMemHostUnregister(pointer));
}
SIM_RT(cudaHostGetDevicePointer, kContext, (void** device, void* host, unsigned flags), (device, host, flags)) {
    return to_runtime(cu.cuMemHostGetDevicePointer(reinterpret_cast<CUdeviceptr*>(device), host, flags));
}
SIM_RT(cudaMemGetInfo, kContext, (std::size_t * free_bytes, std::size_t* total_bytes), (free_bytes, total_bytes)) {
    return to_runtime(cu.cuMemGetInfo(free_bytes, total_bytes));
}
SIM_RT_STREAM(cudaMallocAsync, _ptsz, (void** pointer, std::size_t bytes, cudaStream_t stream),
              (pointer, bytes, stream)) {
    return to_runtime(cu.cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(pointer), bytes, stream));
}
SIM_RT_STREAM(cudaFreeAsync, _ptsz, (void* pointer, cudaStream_t stream), (pointer, stream)) {
    return to_runtime(cu.cuMemFreeAsync(device_pointer(pointer), stream));
}

SIM_RT(cudaPointerGetAttributes, kContext, (cudaPointerAttributes * out, const void* pointer), (out, pointer)) {
    std::memset(out, 0, sizeof *out);
    unsigned type = 0;
    unsigned managed = 0;
    if (cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device_pointer(pointer)) != CUDA_SUCCESS) {
        out->type = cudaMemoryTypeUnregistered;
        out->hostPointer = const_cast<void*>(pointer);
        return cudaSuccess;
    }
    cu.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, device_pointer(pointer));
    cu.cuPointerGetAttribute(&out->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device_pointer(pointer));
    out->type = managed != 0                   ? cudaMemoryTypeManaged
                : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                               : cudaMemoryTypeHost;
    out->devicePointer = const_cast<void*>(pointer);
    out->hostPointer = out->type == cudaMemoryTypeDevice ? nullptr : const_cast<void*>(pointer);
    return cudaSuccess;
}

SIM_RT_STREAM(cudaMemcpy, _ptds, (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind),
              (to, from, bytes, kind)) {
    return copy(cu, to, from, bytes, kind);
}
SIM_RT_STREAM(cudaMemcpyAsync, _ptsz,
              (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
              (to, from, bytes, kind, stream)) {
    return copy_async(cu, to, from, bytes, kind, stream);
}
SIM_RT(cudaMemcpyPeer, kContext,
       (void* to, [[maybe_unused]] int to_device, const void* from, [[maybe_unused]] int from_device,
        std::size_t bytes),
       (to, to_device, from, from_device, bytes)) {
    CUcontext context = any_context(cu);
    return to_runtime(cu.cuMemcpyPeer(device_pointer(to), context, device_pointer(from), context, bytes));
}
SIM_RT(cudaMemcpyPeerAsync, kContext,
       (void* to, [[maybe_unused]] int to_device, const void* from, [[maybe_unused]] int from_device, std::size_t bytes,
        cudaStream_t stream),
       (to, to_device, from, from_device, bytes, stream)) {
    CUcontext context = any_context(cu);
    return to_runtime(cu.cuMemcpyPeerAsync(device_pointer(to), context, device_pointer(from), context, bytes, stream));
}
SIM_RT_STREAM(cudaMemcpy2D, _ptds,
              (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
               std::size_t height, cudaMemcpyKind kind),
              (to, to_pitch, from, from_pitch, width, height, kind)) {
    const CUDA_MEMCPY2D wide = rows(to, to_pitch, from, from_pitch, width, height);
    return valid(kind) ? to_runtime(cu.cuMemcpy2D(&wide)) : cudaErrorInvalidMemcpyDirection;
}
SIM_RT_STREAM(cudaMemcpy2DAsync, _ptsz,
              (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
               std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
              (to, to_pitch, from, from_pitch, width, height, kind, stream)) {
    const CUDA_MEMCPY2D wide = rows(to, to_pitch, from, from_pitch, width, height);
    return valid(kind) ? to_runtime(cu.cuMemcpy2DAsync(&wide, stream)) : cudaErrorInvalidMemcpyDirection;
}
SIM_RT_STREAM(cudaMemcpy3D, _ptds, (const cudaMemcpy3DParms* parameters), (parameters)) {
    const CUDA_MEMCPY3D wide = sim::runtime::to_driver(*parameters);
    return to_runtime(cu.cuMemcpy3D(&wide));
}
SIM_RT_STREAM(cudaMemcpy3DAsync, _ptsz, (const cudaMemcpy3DParms* parameters, cudaStream_t stream),
              (parameters, stream)) {
    const CUDA_MEMCPY3D wide = sim::runtime::to_driver(*parameters);
    return to_runtime(cu.cuMemcpy3DAsync(&wide, stream));
}

SIM_RT_STREAM(cudaMemset, _ptds, (void* to, int value, std::size_t bytes), (to, value, bytes)) {
    return to_runtime(cu.cuMemsetD8(device_pointer(to), static_cast<unsigned char>(value), bytes));
}
SIM_RT_STREAM(cudaMemsetAsync, _ptsz, (void* to, int value, std::size_t bytes, cudaStream_t stream),
              (to, value, bytes, stream)) {
    return to_runtime(cu.cuMemsetD8Async(device_pointer(to), static_cast<unsigned char>(value), bytes, stream));
}
SIM_RT_STREAM(cudaMemset2D, _ptds, (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height),
              (to, pitch, value, width, height)) {
    return to_runtime(cu.cuMemsetD2D8(device_pointer(to), pitch, static_cast<unsigned char>(value), width, height));
}
SIM_RT_STREAM(cudaMemset2DAsync, _ptsz,
              (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height, cudaStream_t stream),
              (to, pitch, value, width, height, stream)) {
    return to_runtime(
        cu.cuMemsetD2D8Async(device_pointer(to), pitch, static_cast<unsigned char>(value), width, height, stream));
}

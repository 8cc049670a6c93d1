// Memory: device memory is host memory, so that copies copy.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/work.hpp"

using sim::driver;
using sim::Lock;
using sim::MemoryKind;

namespace {

constexpr std::size_t kAlignment = 512;

CUresult allocate(std::size_t bytes, MemoryKind kind, void** pointer) {
    const Lock lock(driver().mutex);
    if (sim::current_context() == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (bytes == 0 || pointer == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (kind != MemoryKind::kPinned && sim::unsafe_in_capture()) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (kind != MemoryKind::kPinned && bytes > sim::kDeviceMemoryBytes - driver().device_bytes) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    void* made = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    if (made == nullptr) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    driver().memory[reinterpret_cast<std::uintptr_t>(made)] = {bytes, kind, sim::current_context()->device, true};
    driver().device_bytes += kind != MemoryKind::kPinned ? bytes : 0;
    *pointer = made;
    return CUDA_SUCCESS;
}

CUresult allocate_device(CUdeviceptr* pointer, std::size_t bytes, MemoryKind kind) {
    void* made = nullptr;
    const CUresult result = pointer == nullptr ? CUDA_ERROR_INVALID_VALUE : allocate(bytes, kind, &made);
    if (result == CUDA_SUCCESS) {
        *pointer = reinterpret_cast<CUdeviceptr>(made);
    }
    return result;
}

CUresult release(std::uintptr_t address) {
    const Lock lock(driver().mutex);
    const auto found = driver().memory.find(address);
    if (found == driver().memory.end() || !found->second.owned) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    driver().device_bytes -= found->second.kind != MemoryKind::kPinned ? found->second.bytes : 0;
    std::free(reinterpret_cast<void*>(address));
    driver().memory.erase(found);
    return CUDA_SUCCESS;
}

std::size_t format_bytes(CUarray_format format) {
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8:
            return 1;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF:
            return 2;
        default:
            return 4;
    }
}

CUresult make_array(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    if (sim::current_context() == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    auto made = std::make_unique<CUarray_st>();
    made->descriptor = descriptor;
    made->element_bytes = format_bytes(descriptor.Format) * descriptor.NumChannels;
    made->data.resize(descriptor.Width * std::max<std::size_t>(descriptor.Height, 1) *
                      std::max<std::size_t>(descriptor.Depth, 1) * made->element_bytes);
    *array = made.release();
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API_V1(cuMemAlloc, 2000, (CUdeviceptr_v1*, unsigned));
SIM_API_V1(cuMemFree, 2000, (CUdeviceptr_v1));
SIM_API_V1(cuMemGetInfo, 2000, (unsigned*, unsigned*));

SIM_API(cuMemAlloc, _v2, 3020, (CUdeviceptr * pointer, std::size_t bytes), (pointer, bytes)) {
    return allocate_device(pointer, bytes, MemoryKind::kDevice);
}

SIM_API(cuMemAllocPitch, _v2, 3020,
        (CUdeviceptr * pointer, std::size_t* pitch, std::size_t width, std::size_t height, unsigned element_bytes),
        (pointer, pitch, width, height, element_bytes)) {
    if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pitch = (width + kAlignment - 1) / kAlignment * kAlignment;
    return allocate_device(pointer, *pitch * height, MemoryKind::kDevice);
}

SIM_API(cuMemAllocManaged, , 6000, (CUdeviceptr * pointer, std::size_t bytes, unsigned flags),
        (pointer, bytes, flags)) {
    return flags == 0 ? CUDA_ERROR_INVALID_VALUE : allocate_device(pointer, bytes, MemoryKind::kManaged);
}

// The pool's memory is there at once; its place in the stream's order is kept by the caller.
SIM_API_STREAM(cuMemAllocAsync, , 11020, _ptsz, 11020, (CUdeviceptr * pointer, std::size_t bytes, CUstream stream),
               (pointer, bytes, stream)) {
    return sim::find_stream(stream) == nullptr ? CUDA_ERROR_INVALID_HANDLE
                                               : allocate_device(pointer, bytes, MemoryKind::kDevice);
}

SIM_API_STREAM(cuMemAllocFromPoolAsync, , 11020, _ptsz, 11020,
               (CUdeviceptr * pointer, std::size_t bytes, CUmemoryPool pool, CUstream stream),
               (pointer, bytes, pool, stream)) {
    return pool == nullptr || sim::find_stream(stream) == nullptr
               ? CUDA_ERROR_INVALID_HANDLE
               : allocate_device(pointer, bytes, MemoryKind::kDevice);
}

SIM_API_STREAM(cuMemFreeAsync, , 11020, _ptsz, 11020, (CUdeviceptr pointer, CUstream stream), (pointer, stream)) {
    return sim::find_stream(stream) == nullptr ? CUDA_ERROR_INVALID_HANDLE : release(pointer);
}

SIM_API(cuMemFree, _v2, 3020, (CUdeviceptr pointer), (pointer)) {
    sim::Aftermath after;
    {
        const Lock lock(driver().mutex);
        if (sim::current_context() == nullptr) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        after.wait_until_ns = sim::context_completion_ns(*sim::current_context());
    }
    after.run();
    return pointer == 0 ? CUDA_SUCCESS : release(pointer);
}

SIM_API(cuMemAllocHost, _v2, 3020, (void** pointer, std::size_t bytes), (pointer, bytes)) {
    return allocate(bytes, MemoryKind::kPinned, pointer);
}

SIM_API(cuMemHostAlloc, , 2020, (void** pointer, std::size_t bytes, unsigned flags), (pointer, bytes, flags)) {
    return flags > 15 ? CUDA_ERROR_INVALID_VALUE : allocate(bytes, MemoryKind::kPinned, pointer);
}

SIM_API(cuMemFreeHost, , 2000, (void* pointer), (pointer)) {
    return pointer == nullptr ? CUDA_SUCCESS : release(reinterpret_cast<std::uintptr_t>(pointer));
}

SIM_API(cuMemHostRegister, _v2, 6050, (void* pointer, std::size_t bytes, unsigned flags), (pointer, bytes, flags)) {
    const Lock lock(driver().mutex);
    if (pointer == nullptr || bytes == 0 || flags > 15) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    driver().memory[reinterpret_cast<std::uintptr_t>(pointer)] = {bytes, MemoryKind::kPinned, 0, false};
    return CUDA_SUCCESS;
}

SIM_API(cuMemHostUnregister, , 4000, (void* pointer), (pointer)) {
    const Lock lock(driver().mutex);
    const auto found = driver().memory.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == driver().memory.end() || found->second.owned) {
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    driver().memory.erase(found);
    return CUDA_SUCCESS;
}

SIM_API(cuMemHostGetDevicePointer, _v2, 3020, (CUdeviceptr * device, void* host, unsigned flags),
        (device, host, flags)) {
    const Lock lock(driver().mutex);
    if (flags != 0 || sim::memory_kind(host) != MemoryKind::kPinned) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *device = reinterpret_cast<CUdeviceptr>(host);
    return CUDA_SUCCESS;
}

SIM_API(cuMemGetInfo, _v2, 3020, (std::size_t * free_bytes, std::size_t* total_bytes), (free_bytes, total_bytes)) {
    const Lock lock(driver().mutex);
    *total_bytes = sim::kDeviceMemoryBytes;
    *free_bytes = sim::kDeviceMemoryBytes - driver().device_bytes;
    return CUDA_SUCCESS;
}

SIM_API(cuPointerGetAttribute, , 4000, (void* data, CUpointer_attribute asked, CUdeviceptr pointer),
        (data, asked, pointer)) {
    const Lock lock(driver().mutex);
    CUdevice device = 0;
    const MemoryKind kind = sim::memory_kind(reinterpret_cast<void*>(pointer), &device);
    if (kind == MemoryKind::kPageable) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    switch (asked) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: {
            const unsigned type = kind == MemoryKind::kPinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
            std::memcpy(data, &type, sizeof type);
            return CUDA_SUCCESS;
        }
        case CU_POINTER_ATTRIBUTE_IS_MANAGED: {
            const unsigned managed = kind == MemoryKind::kManaged ? 1 : 0;
            std::memcpy(data, &managed, sizeof managed);
            return CUDA_SUCCESS;
        }
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            std::memcpy(data, &device, sizeof device);
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            std::memcpy(data, &pointer, sizeof pointer);
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_NOT_SUPPORTED;
    }
}

SIM_API(cuArrayCreate, _v2, 3020, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR* wanted), (array, wanted)) {
    return make_array(array, {wanted->Width, wanted->Height, 0, wanted->Format, wanted->NumChannels, 0});
}

SIM_API(cuArray3DCreate, _v2, 3020, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR* wanted), (array, wanted)) {
    return make_array(array, *wanted);
}

SIM_API(cuArrayDestroy, , 2000, (CUarray array), (array)) {
    delete array;
    return CUDA_SUCCESS;
}

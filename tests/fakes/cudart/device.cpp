// Devices, errors, versions, driver entry points.
#include <cstdio>
#include <cstring>

#include "tests/fakes/cudart/call.hpp"

using sim::runtime::current_device;
using sim::runtime::last_error;
using sim::runtime::to_runtime;

namespace {

constexpr int kRuntimeVersion = SIM_CUDART_MAJOR >= 13 ? CUDART_VERSION : 12080;

struct ErrorText {
    cudaError_t code;
    const char* name;
    const char* text;
};

constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
};

const ErrorText& find_error(cudaError_t code) {
    static constexpr ErrorText unknown{cudaErrorUnknown, "unrecognized error code", "unrecognized error code"};
    for (const ErrorText& error : kErrors) {
        if (error.code == code) {
            return error;
        }
    }
    return unknown;
}

cudaError_t entry_point(const sim::runtime::Table& cu, const char* symbol, void** function, int version,
                        unsigned long long flags, cudaDriverEntryPointQueryResult* status_out) {
    CUdriverProcAddressQueryResult status;
    *function = nullptr;
    const CUresult result = cu.cuGetProcAddress(symbol, function, version, flags, &status);
    if (status_out != nullptr) {
        *status_out = static_cast<cudaDriverEntryPointQueryResult>(status);
    }
    // A symbol that is not there is told by the status, not by an error.
    return result == CUDA_ERROR_NOT_FOUND ? cudaSuccess : to_runtime(result);
}

unsigned long long own_stream(unsigned long long flags) {
    return flags == cudaEnableDefault ? static_cast<unsigned long long>(cudaEnablePerThreadDefaultStream) : flags;
}

}  // namespace

extern "C" cudaError_t CUDARTAPI cudaGetLastError() {
    const cudaError_t error = last_error();
    last_error() = cudaSuccess;
    return error;
}
extern "C" cudaError_t CUDARTAPI cudaPeekAtLastError() {
    return last_error();
}
extern "C" const char* CUDARTAPI cudaGetErrorName(cudaError_t error) {
    return find_error(error).name;
}
extern "C" const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
    return find_error(error).text;
}

SIM_RT(cudaRuntimeGetVersion, kNothing, (int* version), (version)) {
    *version = kRuntimeVersion;
    return cudaSuccess;
}

// Without a driver this is version 0 and no error.
extern "C" cudaError_t CUDARTAPI cudaDriverGetVersion(int* version) {
    const sim::runtime::Table* cu = sim::runtime::find_table(sim::runtime::Binding::kLegacy);
    *version = 0;
    return cu == nullptr ? cudaSuccess : to_runtime(cu->cuDriverGetVersion(version));
}

SIM_RT(cudaGetDeviceCount, kDriver, (int* count), (count)) {
    return to_runtime(cu.cuDeviceGetCount(count));
}

SIM_RT(cudaGetDevice, kDriver, (int* device), (device)) {
    *device = current_device();
    return cudaSuccess;
}

SIM_RT(cudaSetDevice, kDriver, (int device), (device)) {
    CUcontext context = nullptr;
    const CUresult result = cu.cuDevicePrimaryCtxRetain(&context, device);
    if (result != CUDA_SUCCESS) {
        return to_runtime(result);
    }
    current_device() = device;
    return to_runtime(cu.cuCtxSetCurrent(context));
}

SIM_RT(cudaDeviceGetAttribute, kDriver, (int* value, cudaDeviceAttr attribute, int device),
       (value, attribute, device)) {
    return to_runtime(cu.cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device));
}

SIM_RT(cudaDeviceGetPCIBusId, kDriver, (char* text, int length, int device), (text, length, device)) {
    return to_runtime(cu.cuDeviceGetPCIBusId(text, length, device));
}

#if SIM_CUDART_MAJOR >= 13
SIM_RT(cudaGetDeviceProperties, kDriver, (cudaDeviceProp * properties, int device), (properties, device)) {
    std::memset(properties, 0, sizeof *properties);
    CUresult result = cu.cuDeviceGetName(properties->name, sizeof properties->name, device);
    if (result != CUDA_SUCCESS) {
        return to_runtime(result);
    }
    cu.cuDeviceTotalMem(&properties->totalGlobalMem, device);
    const auto get = [&](int& field, CUdevice_attribute attribute) {
        cu.cuDeviceGetAttribute(&field, attribute, device);
    };
    get(properties->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    get(properties->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    get(properties->multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    get(properties->warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    get(properties->maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    get(properties->memoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    return cudaSuccess;
}
#endif

SIM_RT_NONE(cudaDeviceSynchronize, kContext) {
#if SIM_CUDART_MAJOR >= 13
    return to_runtime(cu.cuCtxSynchronize(nullptr));
#else
    return to_runtime(cu.cuCtxSynchronize());
#endif
}

SIM_RT_NONE(cudaProfilerStart, kContext) {
    return to_runtime(cu.cuProfilerStart());
}
SIM_RT_NONE(cudaProfilerStop, kContext) {
    return to_runtime(cu.cuProfilerStop());
}

SIM_RT(cudaGetDriverEntryPoint, kDriver,
       (const char* symbol, void** function, unsigned long long flags, cudaDriverEntryPointQueryResult* status),
       (symbol, function, flags, status)) {
    return entry_point(cu, symbol, function, kRuntimeVersion, flags, status);
}
SIM_RT(cudaGetDriverEntryPoint_ptsz, kDriver,
       (const char* symbol, void** function, unsigned long long flags, cudaDriverEntryPointQueryResult* status),
       (symbol, function, flags, status)) {
    return entry_point(cu, symbol, function, kRuntimeVersion, own_stream(flags), status);
}
SIM_RT(cudaGetDriverEntryPointByVersion, kDriver,
       (const char* symbol, void** function, unsigned version, unsigned long long flags,
        cudaDriverEntryPointQueryResult* status),
       (symbol, function, version, flags, status)) {
    return entry_point(cu, symbol, function, static_cast<int>(version), flags, status);
}
SIM_RT(cudaGetDriverEntryPointByVersion_ptsz, kDriver,
       (const char* symbol, void** function, unsigned version, unsigned long long flags,
        cudaDriverEntryPointQueryResult* status),
       (symbol, function, version, flags, status)) {
    return entry_point(cu, symbol, function, static_cast<int>(version), own_stream(flags), status);
}

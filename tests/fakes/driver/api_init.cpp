// Initialisation, versions, devices, errors, and the ways to find a function.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "tests/fakes/common/environment.hpp"
#include "tests/fakes/driver/call.hpp"

using sim::driver;

namespace {

struct ErrorText {
    CUresult code;
    const char* name;
    const char* text;
};

constexpr std::array kErrors = {
    ErrorText{CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    ErrorText{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    ErrorText{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    ErrorText{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    ErrorText{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    ErrorText{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    ErrorText{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    ErrorText{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    ErrorText{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    ErrorText{CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    ErrorText{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    ErrorText{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
              "too many resources requested for launch"},
    ErrorText{CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    ErrorText{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    ErrorText{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
              "operation not permitted when stream is capturing"},
    ErrorText{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
              "operation failed due to a previous error during capture"},
};

const ErrorText* find_error(CUresult code) {
    const auto found =
        std::find_if(kErrors.begin(), kErrors.end(), [code](const ErrorText& error) { return error.code == code; });
    return found != kErrors.end() ? &*found : nullptr;
}

int driver_version() {
    static const int version = static_cast<int>(sim::environment_number("SIM_DRIVER_VERSION", 13000));
    return version;
}

bool is_device(CUdevice device) {
    return device >= 0 && device < driver().device_count;
}

int attribute(CUdevice_attribute asked) {
    switch (asked) {
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            return 9;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
            return 0;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            return 132;
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
            return 1'980'000;
        case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
            return 3'201'000;
        case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
            return 6144;
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
            return 32;
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            return 1024;
        case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
        case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
        case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
        case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
            return 1;
        default:
            return 0;
    }
}

/// The function that `name` means for this version and binding; says why if there is none.
void* look_up(const char* name, int version, cuuint64_t flags, CUdriverProcAddressQueryResult& status) {
    const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    const sim::EntryPoint* best = nullptr;
    bool known = false;
    for (const sim::EntryPoint* entry = sim::entry_points(); entry != nullptr; entry = entry->next) {
        if (std::strcmp(entry->base, name) != 0 || entry->version > driver_version()) {
            continue;
        }
        known = true;
        const bool own_stream = entry->binding == sim::Binding::kPerThread;
        if (entry->version > version || (own_stream && !per_thread)) {
            continue;
        }
        const bool better_binding = best != nullptr && own_stream && best->binding == sim::Binding::kLegacy;
        const bool same_binding = best == nullptr || own_stream == (best->binding == sim::Binding::kPerThread);
        if (better_binding || (same_binding && (best == nullptr || entry->version > best->version))) {
            best = entry;
        }
    }
    status = best != nullptr
                 ? CU_GET_PROC_ADDRESS_SUCCESS
                 : (known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    return best != nullptr ? best->function : nullptr;
}

CUresult find_function(const char* symbol, void** pointer, int version, cuuint64_t flags,
                       CUdriverProcAddressQueryResult* status_out) {
    if (symbol == nullptr || pointer == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    *pointer = look_up(symbol, version, flags, status);
    if (status_out != nullptr) {
        *status_out = status;
    }
    return *pointer != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// A function that only cuGetProcAddress gives: no exported symbol has its address.
CUresult CUDAAPI unexported(int* answer) {
    *answer = 42;
    return CUDA_SUCCESS;
}
sim::EntryPoint unexported_entry{
    "cuSimUnexported", "cuSimUnexported", 2000, sim::Binding::kLegacy, reinterpret_cast<void*>(&unexported), 0};

}  // namespace

SIM_API(cuInit, , 2000, (unsigned flags), (flags)) {
    const sim::Lock lock(driver().mutex);
    if (flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (sim::environment_is("SIM_NO_DEVICE", "1")) {
        return CUDA_ERROR_NO_DEVICE;
    }
    if (driver().forked) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    driver().initialised = true;
    return CUDA_SUCCESS;
}

SIM_API(cuDriverGetVersion, , 2020, (int* version), (version)) {
    if (version == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *version = driver_version();
    return CUDA_SUCCESS;
}

SIM_API(cuGetErrorName, , 6000, (CUresult error, const char** text), (error, text)) {
    const ErrorText* found = find_error(error);
    *text = found != nullptr ? found->name : nullptr;
    return found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGetErrorString, , 6000, (CUresult error, const char** text), (error, text)) {
    const ErrorText* found = find_error(error);
    *text = found != nullptr ? found->text : nullptr;
    return found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGetExportTable, , 3000, (const void** table, const CUuuid* id), (table, id)) {
    if (table == nullptr || id == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

SIM_API(cuGetProcAddress, , 11030, (const char* symbol, void** pointer, int version, cuuint64_t flags),
        (symbol, pointer, version, flags)) {
    return find_function(symbol, pointer, version, flags, nullptr);
}

SIM_API(cuGetProcAddress, _v2, 12000,
        (const char* symbol, void** pointer, int version, cuuint64_t flags, CUdriverProcAddressQueryResult* status),
        (symbol, pointer, version, flags, status)) {
    return find_function(symbol, pointer, version, flags, status);
}

SIM_API(cuDeviceGet, , 2000, (CUdevice * device, int ordinal), (device, ordinal)) {
    if (!is_device(ordinal)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *device = ordinal;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetCount, , 2000, (int* count), (count)) {
    *count = driver().device_count;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetName, , 2000, (char* name, int length, CUdevice device), (name, length, device)) {
    if (!is_device(device) || length <= 0) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    constexpr std::string_view kName = "Simulated GPU";
    const auto count = std::min(kName.size(), static_cast<std::size_t>(length) - 1);
    kName.copy(name, count);
    name[count] = '\0';
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetUuid, _v2, 11040, (CUuuid * uuid, CUdevice device), (uuid, device)) {
    if (!is_device(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    std::memcpy(uuid->bytes, "SIMULATED DEVIC", 15);
    uuid->bytes[15] = static_cast<char>('0' + device);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceTotalMem, _v2, 3020, (std::size_t * bytes, CUdevice device), (bytes, device)) {
    if (!is_device(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *bytes = sim::kDeviceMemoryBytes;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetAttribute, , 2000, (int* value, CUdevice_attribute asked, CUdevice device), (value, asked, device)) {
    if (!is_device(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *value = attribute(asked);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceComputeCapability, , 2000, (int* major, int* minor, CUdevice device), (major, minor, device)) {
    if (!is_device(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetPCIBusId, , 4010, (char* text, int length, CUdevice device), (text, length, device)) {
    if (!is_device(device) || length < 13) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::memcpy(text, "0000:01:00.0", 13);
    text[6] = static_cast<char>('1' + device);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetDefaultMemPool, , 11020, (CUmemoryPool * pool, CUdevice device), (pool, device)) {
    if (!is_device(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *pool = &driver().pools[static_cast<std::size_t>(device)];
    return CUDA_SUCCESS;
}

SIM_API_NONE(cuProfilerStart, , 4000) {
    return CUDA_SUCCESS;
}
SIM_API_NONE(cuProfilerStop, , 4000) {
    return CUDA_SUCCESS;
}

#include "interpose/device/device_info.hpp"

#include <cstdio>

#include "interpose/resolve/driver_api.hpp"
#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/originals.hpp"

namespace gpuspy::hook {
namespace {

/// A library's version function, and how its number is made: major * kMajor + minor * kMinor + patch.
struct VersionedLibrary {
    const char* key;
    const char* function;
    std::size_t major_unit;
    std::size_t minor_unit;
    enum { kReturnsVersion, kWritesVersion } form;
};

constexpr VersionedLibrary kLibraries[] = {
    {"cudart_version", "cudaRuntimeGetVersion", 1000, 10, VersionedLibrary::kWritesVersion},
    {"cudnn_version", "cudnnGetVersion", 10000, 100, VersionedLibrary::kReturnsVersion},
    {"cublaslt_version", "cublasLtGetVersion", 10000, 100, VersionedLibrary::kReturnsVersion},
    {"nccl_version", "ncclGetVersion", 10000, 100, VersionedLibrary::kWritesVersion},
};

std::size_t version_of(const VersionedLibrary& library) noexcept {
    void* function = find_provider(library.function, nullptr);
    if (function == nullptr) return 0;
    if (library.form == VersionedLibrary::kReturnsVersion) return reinterpret_cast<std::size_t (*)()>(function)();
    int version = 0;
    return reinterpret_cast<int (*)(int*)>(function)(&version) == 0 ? static_cast<std::size_t>(version) : 0;
}

void write_versions(sink::RecordSink& sink, const CuptiApi* cupti) noexcept {
    char text[64];
    if (const int version = driver_version(); version != 0) {
        snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
        sink.info("driver_version", text);
    }
    for (const VersionedLibrary& library : kLibraries) {
        const std::size_t version = version_of(library);
        if (version == 0) continue;
        snprintf(text, sizeof text, "%zu.%zu.%zu", version / library.major_unit,
                 version % library.major_unit / library.minor_unit, version % library.minor_unit);
        sink.info(library.key, text);
    }
    if (cupti != nullptr) {
        snprintf(text, sizeof text, "%u", cupti->version);
        sink.info("cupti_version", text);
        sink.info("cupti_path", cupti->path);
    }
}

std::uint32_t attribute(const DriverApi& api, CUdevice_attribute which, CUdevice device) noexcept {
    int value = 0;
    return api.device_get_attribute(&value, which, device) == CUDA_SUCCESS && value > 0
               ? static_cast<std::uint32_t>(value)
               : 0;
}

void write_device(sink::RecordSink& sink, const DriverApi& api, int ordinal) noexcept {
    CUdevice device = 0;
    if (api.device_get(&device, ordinal) != CUDA_SUCCESS) return;
    char name[128] = {};
    char pci[32] = {};
    CUuuid uuid{};
    std::size_t memory_bytes = 0;
    api.device_get_name(name, sizeof name, device);
    if (api.device_get_pci_bus_id != nullptr) api.device_get_pci_bus_id(pci, sizeof pci, device);
    const bool has_uuid = api.device_get_uuid != nullptr && api.device_get_uuid(&uuid, device) == CUDA_SUCCESS;
    if (api.device_total_mem != nullptr) api.device_total_mem(&memory_bytes, device);
    sink::DeviceInfo info;
    info.ordinal = static_cast<std::uint32_t>(ordinal);
    info.name = name;
    info.pci = pci;
    info.uuid = has_uuid ? reinterpret_cast<const std::uint8_t*>(uuid.bytes) : nullptr;
    info.cc_major = attribute(api, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    info.cc_minor = attribute(api, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    info.sm_count = attribute(api, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    info.sm_clock_khz = attribute(api, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device);
    info.memory_clock_khz = attribute(api, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device);
    info.bus_width_bits = attribute(api, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
    info.memory_bytes = memory_bytes;
    sink.device(info);
}

}  // namespace

void write_device_facts(sink::RecordSink& sink, const CuptiApi* cupti) noexcept {
    write_versions(sink, cupti);
    const DriverApi& api = driver_api();
    int count = 0;
    if (api.device_get_count == nullptr || api.device_get == nullptr || api.device_get_name == nullptr ||
        api.device_get_attribute == nullptr || api.device_get_count(&count) != CUDA_SUCCESS) {
        return;
    }
    for (int ordinal = 0; ordinal < count; ++ordinal) write_device(sink, api, ordinal);
}

}  // namespace gpuspy::hook

#include "analysis/export/nsys_sqlite/enums.hpp"

#include <array>
#include <span>

namespace gpuspy::analysis::nsys {
namespace {

struct Entry {
    std::int64_t id;
    const char* name;
    const char* label;
};

constexpr std::int64_t kUnknownMemory = 7;

constexpr std::array kMemory = {
    Entry{0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
    Entry{1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
    Entry{2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
    Entry{3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
    Entry{4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
    Entry{5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
    Entry{6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
    Entry{kUnknownMemory, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"},
};

// The ids are CUpti_ActivityMemcpyKind's, as abi::CopyKind's are.
constexpr std::array kCopies = {
    Entry{0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},       Entry{1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
    Entry{2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},   Entry{3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
    Entry{4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},    Entry{5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
    Entry{6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},  Entry{7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
    Entry{8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"}, Entry{9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
    Entry{10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"},
};

constexpr std::array kSyncs = {
    Entry{0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
    Entry{1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
    Entry{2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
    Entry{3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
    Entry{4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"},
};

constexpr std::array kClasses = {
    Entry{0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},
    Entry{1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"},
    Entry{28, "TRACE_PROCESS_EVENT_CUDNN", "cuDNN"},
    Entry{29, "TRACE_PROCESS_EVENT_CUBLAS", "cuBLAS"},
};

constexpr std::array kTypes = {
    Entry{34, "NvtxMark", "NvtxMark"},
    Entry{59, "NvtxPushPopRange", "NvtxPushPopRange"},
    Entry{60, "NvtxStartEndRange", "NvtxStartEndRange"},
    Entry{75, "NvtxDomainCreate", "NvtxDomainCreate"},
};

constexpr std::array kSeverities = {Entry{1, "Info", "Info"}, Entry{2, "Warning", "Warning"},
                                    Entry{3, "Error", "Error"}};
constexpr std::array kSources = {Entry{1, "Injection", "Injection"}, Entry{2, "Daemon", "Daemon"},
                                 Entry{3, "Analysis", "Analysis"}};
constexpr std::array kTimestamps = {Entry{1, "TargetTimestamp", "Target timestamp"},
                                    Entry{2, "HostTimestamp", "Host timestamp"}};

void write(Database& database, const char* table, std::span<const Entry> entries) {
    TableWriter<Entry> writer(database, table,
                              {
                                  {"id", "INTEGER NOT NULL PRIMARY KEY", [](const Entry& entry) { return entry.id; }},
                                  {"name", "TEXT", [](const Entry& entry) { return std::string(entry.name); }},
                                  {"label", "TEXT", [](const Entry& entry) { return std::string(entry.label); }},
                              });
    for (const Entry& entry : entries) {
        writer.add(entry);
    }
}

}  // namespace

std::int64_t memory_kind(std::uint32_t cupti_kind) {
    return cupti_kind == 0 || cupti_kind > static_cast<std::uint32_t>(kUnknownMemory) ? kUnknownMemory
                                                                                      : std::int64_t{cupti_kind} - 1;
}

void write_enums(Database& database) {
    write(database, "ENUM_CUDA_MEM_KIND", kMemory);
    write(database, "ENUM_CUDA_MEMCPY_OPER", kCopies);
    write(database, "ENUM_CUPTI_SYNC_TYPE", kSyncs);
    write(database, "ENUM_NSYS_EVENT_CLASS", kClasses);
    write(database, "ENUM_NSYS_EVENT_TYPE", kTypes);
    write(database, "ENUM_DIAGNOSTIC_SEVERITY_LEVEL", kSeverities);
    write(database, "ENUM_DIAGNOSTIC_SOURCE_TYPE", kSources);
    write(database, "ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE", kTimestamps);
}

}  // namespace gpuspy::analysis::nsys

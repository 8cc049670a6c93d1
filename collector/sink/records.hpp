// Plain records that the encoder takes: what a source of device records or of facts about the process hands over.
#pragma once

#include <cstdint>

#include "collector/abi/event.hpp"
#include "collector/abi/trace_format.hpp"

namespace gpuspy::sink {

/// What kernels, copies and sets on the device have in common.
struct DeviceRecord {
    std::uint32_t device = 0;  ///< CUPTI's ids.
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint64_t correlation = 0;
    std::uint64_t start_ns = 0;  ///< Of the device clock (DeviceSource::clock_ns).
    std::uint64_t end_ns = 0;
    bool untimed = false;             ///< start_ns and end_ns mean nothing (also taken so when end_ns < start_ns).
    bool asynchronous = false;        ///< Copies and sets.
    bool from_graph = false;          ///< The two that follow are set.
    std::uint32_t graph_exec_id = 0;  ///< High half of graphNodeId.
    std::uint32_t graph_node = 0;     ///< Low half.
};

struct KernelRecord : DeviceRecord {
    const char* name = nullptr;  ///< As CUPTI gives it; nullptr: "".
    std::uint32_t grid[3] = {};
    std::uint32_t block[3] = {};
    std::uint32_t registers = 0;
    std::uint32_t static_shared_bytes = 0;
    std::uint32_t dynamic_shared_bytes = 0;
};

struct MemcpyRecord : DeviceRecord {
    std::uint64_t bytes = 0;
    std::uint32_t kind = 0;              ///< CopyKind.
    std::uint32_t source_kind = 0;       ///< CUpti_ActivityMemoryKind.
    std::uint32_t destination_kind = 0;  ///< CUpti_ActivityMemoryKind.
};

struct MemsetRecord : DeviceRecord {
    std::uint64_t bytes = 0;
    std::uint32_t memory_kind = 0;  ///< CUpti_ActivityMemoryKind.
};

struct DeviceInfo {
    std::uint32_t ordinal = 0;
    const char* name = "";
    const std::uint8_t* uuid = nullptr;  ///< 16 bytes, or nullptr.
    std::uint32_t cc_major = 0;
    std::uint32_t cc_minor = 0;
    std::uint32_t sm_count = 0;
    std::uint64_t sm_clock_khz = 0;
    std::uint64_t memory_clock_khz = 0;
    std::uint32_t bus_width_bits = 0;
    std::uint64_t memory_bytes = 0;
    const char* pci = "";
};

/// Clocks read together, within uncertainty_ns.
struct Anchor {
    std::uint64_t ticks = 0;
    std::uint64_t monotonic_ns = 0;
    std::uint64_t realtime_ns = 0;
    std::uint64_t device_clock_ns = 0;  ///< 0: none.
    std::uint64_t uncertainty_ns = 0;
};

struct MappedObject {
    std::uint64_t ticks = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    const char* path = "";
    const char* version = "";
};

struct CpuTimes {
    std::uint64_t ticks = 0;
    std::uint64_t user_ns = 0;  ///< Of the process.
    std::uint64_t system_ns = 0;
    std::uint64_t own_ns = 0;       ///< Of the drain thread.
    std::uint64_t callback_ns = 0;  ///< In CUPTI's callbacks and ours.
};

/// What a flight recorder left out of a file, all that was written before `ticks`.
struct KeptPart {
    std::uint64_t ticks = 0;
    std::uint64_t calls = 0, device_records = 0, ranges = 0;
    std::uint64_t blocks = 0, bytes = 0;  ///< Bytes as stored.
    std::uint32_t correlation = 0;        ///< EncodedCounts::correlation at that time.
    std::uint64_t limit_ns = 0, limit_bytes = 0;
};

/// Header record kProcess. Strings are never nullptr.
struct ProcessInfo {
    std::uint64_t pid = 0;
    std::uint64_t ppid = 0;
    std::uint64_t pgid = 0;
    std::uint64_t start_realtime_ns = 0;
    std::uint64_t start_monotonic_ns = 0;
    std::uint64_t tick_hz = 0;  ///< Estimate; 0: not known.
    std::uint64_t run_id = 0;
    std::int64_t rank = -1;
    const char* host = "";
    const char* boot_id = "";
    const char* exe = "";
    const char* cwd = "";
    const char* ring_path = "";
    const char* gpuspy_version = "";
    const char* const* argv = nullptr;
    std::uint32_t argc = 0;
    const char* const* environment = nullptr;  ///< "NAME=value", the allowed ones.
    std::uint32_t environment_count = 0;
};

}  // namespace gpuspy::sink

#include "interpose/device/records.hpp"

#include <cstddef>

namespace gpuspy::hook {
namespace {

// CUPTI appends fields: those that we read stand at the same place in every version since CUDA 10.0 (kernels), 11.1 (copies,
// sets). Checked here against the oldest and the newest form, so the newest form's names can be used for all.
#define GPUSPY_SAME_PLACE(older, newer, field) static_assert(offsetof(older, field) == offsetof(newer, field))
GPUSPY_SAME_PLACE(CUpti_ActivityKernel4, CUpti_ActivityKernel10, start);
GPUSPY_SAME_PLACE(CUpti_ActivityKernel4, CUpti_ActivityKernel10, end);
GPUSPY_SAME_PLACE(CUpti_ActivityKernel4, CUpti_ActivityKernel10, deviceId);
GPUSPY_SAME_PLACE(CUpti_ActivityKernel4, CUpti_ActivityKernel10, streamId);
GPUSPY_SAME_PLACE(CUpti_ActivityKernel4, CUpti_ActivityKernel10, gridX);
GPUSPY_SAME_PLACE(CUpti_ActivityKernel4, CUpti_ActivityKernel10, blockX);
GPUSPY_SAME_PLACE(CUpti_ActivityKernel4, CUpti_ActivityKernel10, dynamicSharedMemory);
GPUSPY_SAME_PLACE(CUpti_ActivityKernel4, CUpti_ActivityKernel10, correlationId);
GPUSPY_SAME_PLACE(CUpti_ActivityKernel4, CUpti_ActivityKernel10, name);
GPUSPY_SAME_PLACE(CUpti_ActivityKernel5, CUpti_ActivityKernel10, graphNodeId);
GPUSPY_SAME_PLACE(CUpti_ActivityMemcpy4, CUpti_ActivityMemcpy6, correlationId);
GPUSPY_SAME_PLACE(CUpti_ActivityMemcpy4, CUpti_ActivityMemcpy6, graphNodeId);
GPUSPY_SAME_PLACE(CUpti_ActivityMemset2, CUpti_ActivityMemset4, correlationId);
GPUSPY_SAME_PLACE(CUpti_ActivityMemset2, CUpti_ActivityMemset4, graphNodeId);
GPUSPY_SAME_PLACE(CUpti_ActivityMemcpyPtoP, CUpti_ActivityMemcpyPtoP4, correlationId);
#undef GPUSPY_SAME_PLACE

/// First CUPTI whose records carry graphNodeId (CUDA 11.1).
constexpr std::uint32_t kFirstWithGraphs = 14;

bool is_believable(std::uint64_t start_ns, std::uint64_t end_ns, const BelievableTimes& times) noexcept {
    return start_ns >= times.first_ns && end_ns >= start_ns && end_ns <= times.last_ns;
}

void read_graph_node(sink::DeviceRecord& into, std::uint64_t graph_node_id) noexcept {
    into.from_graph = graph_node_id != 0;
    into.graph_exec_id = static_cast<std::uint32_t>(graph_node_id >> 32);
    into.graph_node = static_cast<std::uint32_t>(graph_node_id);
}

/// What all records have. Records are packed: fields are copied, never referred to.
template <class Activity>
void read_common(sink::DeviceRecord& into, const Activity& record) noexcept {
    into.device = record.deviceId;
    into.context = record.contextId;
    into.stream = record.streamId;
    into.correlation = record.correlationId;
    into.start_ns = record.start;
    into.end_ns = record.end;
}

sink::KernelRecord read_kernel(const CUpti_ActivityKernel10& record, bool has_graphs) noexcept {
    sink::KernelRecord kernel;
    read_common(kernel, record);
    if (has_graphs) read_graph_node(kernel, record.graphNodeId);
    kernel.name = record.name;
    kernel.grid[0] = static_cast<std::uint32_t>(record.gridX);
    kernel.grid[1] = static_cast<std::uint32_t>(record.gridY);
    kernel.grid[2] = static_cast<std::uint32_t>(record.gridZ);
    kernel.block[0] = static_cast<std::uint32_t>(record.blockX);
    kernel.block[1] = static_cast<std::uint32_t>(record.blockY);
    kernel.block[2] = static_cast<std::uint32_t>(record.blockZ);
    kernel.registers = record.registersPerThread;
    kernel.static_shared_bytes = static_cast<std::uint32_t>(record.staticSharedMemory);
    kernel.dynamic_shared_bytes = static_cast<std::uint32_t>(record.dynamicSharedMemory);
    return kernel;
}

/// Also between devices, whose records have other fields besides.
template <class Activity>
sink::MemcpyRecord read_memcpy(const Activity& record) noexcept {
    sink::MemcpyRecord copy;
    read_common(copy, record);
    copy.bytes = record.bytes;
    copy.kind = record.copyKind;
    copy.source_kind = record.srcKind;
    copy.destination_kind = record.dstKind;
    copy.asynchronous = (record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
    return copy;
}

sink::MemcpyRecord read_memcpy(const CUpti_ActivityMemcpy6& record, bool has_graphs) noexcept {
    sink::MemcpyRecord copy = read_memcpy(record);
    if (has_graphs) read_graph_node(copy, record.graphNodeId);
    return copy;
}

sink::MemsetRecord read_memset(const CUpti_ActivityMemset4& record, bool has_graphs) noexcept {
    sink::MemsetRecord set;
    read_common(set, record);
    if (has_graphs) read_graph_node(set, record.graphNodeId);
    set.bytes = record.bytes;
    set.memory_kind = record.memoryKind;
    set.asynchronous = (record.flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC) != 0;
    return set;
}

template <class Record>
void keep(ActivityRecord& into, ActivityRecord::Kind kind, const Record& record) noexcept {
    static_assert(sizeof record <= sizeof into.bytes);
    into.kind = kind;
    __builtin_memcpy(into.bytes, &record, sizeof record);
}

/// Copied out, with its times on the device clock: by the first line that makes them believable.
template <class Record>
Record timed(const ActivityRecord& from, const ClockLines& clocks, const BelievableTimes& times) noexcept {
    Record record;
    __builtin_memcpy(&record, from.bytes, sizeof record);
    record.untimed = true;
    for (const ClockLine& line : clocks.line) {
        const std::uint64_t start_ns = line.device_ns(record.start_ns);
        const std::uint64_t end_ns = line.device_ns(record.end_ns);
        if (!is_believable(start_ns, end_ns, times)) continue;
        record.start_ns = start_ns;
        record.end_ns = end_ns;
        record.untimed = false;
        break;
    }
    return record;
}

}  // namespace

bool read_record(const CuptiApi& api, const CUpti_Activity* record, ActivityRecord& into) noexcept {
    const bool has_graphs = api.version >= kFirstWithGraphs;
    const void* bytes = record;
    switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            keep(into, ActivityRecord::kKernel,
                 read_kernel(*static_cast<const CUpti_ActivityKernel10*>(bytes), has_graphs));
            return true;
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            keep(into, ActivityRecord::kMemcpy,
                 read_memcpy(*static_cast<const CUpti_ActivityMemcpy6*>(bytes), has_graphs));
            return true;
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            keep(into, ActivityRecord::kMemcpy, read_memcpy(*static_cast<const CUpti_ActivityMemcpyPtoP4*>(bytes)));
            return true;
        case CUPTI_ACTIVITY_KIND_MEMSET:
            keep(into, ActivityRecord::kMemset,
                 read_memset(*static_cast<const CUpti_ActivityMemset4*>(bytes), has_graphs));
            return true;
        default:
            return false;
    }
}

void put_record(const ActivityRecord& record, const ClockLines& clocks, const BelievableTimes& times,
                sink::RecordSink& sink) noexcept {
    switch (record.kind) {
        case ActivityRecord::kKernel:
            sink.kernel(timed<sink::KernelRecord>(record, clocks, times));
            break;
        case ActivityRecord::kMemcpy:
            sink.memcpy(timed<sink::MemcpyRecord>(record, clocks, times));
            break;
        case ActivityRecord::kMemset:
            sink.memset(timed<sink::MemsetRecord>(record, clocks, times));
            break;
    }
}

}  // namespace gpuspy::hook

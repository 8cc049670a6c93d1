// Validated records, as the reader hands them on. Deltas are resolved, dictionary indices are replaced by values or by
// the numbers of Symbols. Views are valid during the callback only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/abi/event.hpp"
#include "collector/abi/trace_format.hpp"

namespace gpuspy::analysis {

/// Calls nest at most this deep (EventHeader::depth is a byte).
inline constexpr std::uint32_t kMaxDepth = 255;

struct ProcessRecord {
    std::uint64_t pid = 0, ppid = 0, pgid = 0;
    std::uint64_t start_realtime_ns = 0, start_monotonic_ns = 0, tick_hz = 0;
    std::uint64_t run_id = 0;
    std::int64_t rank = -1;
    std::string host, boot_id, exe, cwd, ring_path, gpuspy_version;
    std::vector<std::string> argv, environment;
};

struct AnchorRecord {
    std::uint64_t ticks, monotonic_ns, realtime_ns;
    std::uint64_t device_clock_ns;  ///< 0: no device clock yet.
    std::uint64_t uncertainty_ns;
};

struct ObjectRecord {
    std::uint64_t ticks, begin, end;  ///< Addresses in [begin, end).
    std::string_view path, version;
};

struct DeviceRecord {
    std::uint64_t ordinal = 0;
    std::string name, uuid, pci;
    std::uint64_t cc_major = 0, cc_minor = 0, sm_count = 0;
    std::uint64_t sm_clock_khz = 0, memory_clock_khz = 0, bus_width_bits = 0, memory_bytes = 0;
};

struct CallRecord {
    std::uint32_t thread = 0;  ///< Symbols::threads()
    std::uint32_t api = 0;     ///< Symbols::apis()
    std::uint32_t flags = 0;   ///< abi::CallFlags
    std::uint32_t depth = 0;
    std::uint64_t begin_ticks = 0, end_ticks = 0;
    std::int64_t status = 0;
    std::uint64_t caller = 0, stream = 0, correlation = 0, launch_id = 0;
    std::uint64_t function = 0, graph_exec = 0, copy_bytes = 0, copy_kind = 0;
    std::span<const std::int64_t> arguments{};  ///< By ApiInfo::fields; valid while the visitor is called.

    [[nodiscard]] bool has(abi::CallFlags flag) const { return (flags & flag) != 0; }
};

struct NameRecord {
    std::uint64_t ticks, handle;
    std::uint32_t name;  ///< Symbols::text()
};

struct GraphExecRecord {
    std::uint64_t ticks, exec, cupti_exec_id;
    std::uint64_t kernel_nodes, memcpy_nodes, memset_nodes, other_nodes;
    std::uint64_t flags;  ///< abi::GraphFlags
};

/// Whose work a captured launch is that the file itself does not hold.
struct OriginRecord {
    std::uint64_t launch_id = 0;
    std::int64_t library_api = -1;  ///< Symbols::apis() of the outermost library call around it, -1 for none.
    std::uint64_t caller = 0, ticks = 0;
};

/// What a flight recorder left out of the file, all that was written before `ticks`.
struct KeptRecord {
    std::uint64_t ticks, calls, device_records, ranges, blocks, bytes;
    std::uint64_t correlation;  ///< The highest of a call that was left out; ids of 32 bits may come round. 0: none.
    std::uint64_t limit_ns, limit_bytes;
};

enum class ActivityKind : std::uint8_t { kKernel, kMemcpy, kMemset };

/// A device record: something that ran on a GPU.
struct ActivityRecord {
    ActivityKind kind = ActivityKind::kKernel;
    std::uint32_t flags = 0;  ///< abi::DeviceFlags
    std::uint64_t device = 0, context = 0, stream = 0, correlation = 0;
    std::uint64_t start_ns = 0, duration_ns = 0;  ///< Of the device clock.
    std::uint64_t graph_exec_id = 0, graph_node = 0;
    std::uint32_t name = 0;                        ///< Kernels: Symbols::text()
    std::array<std::uint32_t, 3> grid{}, block{};  ///< Kernels: in blocks, in threads.
    std::uint32_t registers = 0;                   ///< Kernels: of a thread.
    std::uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
    std::uint64_t bytes = 0, copy_kind = 0;  ///< abi::CopyKind
    /// CUpti_ActivityMemoryKind (cupti_activity.h): of copies where from and where to; of sets both are the one set.
    std::uint32_t source_memory = 0, destination_memory = 0;

    [[nodiscard]] bool has(abi::DeviceFlags flag) const { return (flags & flag) != 0; }
};

/// The beginning or the end of an NVTX range, or a mark (model/ranges.hpp pairs them).
struct RangeRecord {
    std::uint32_t thread = 0;  ///< Symbols::threads()
    abi::RangeKind kind = abi::RangeKind::kMark;
    std::uint32_t depth = 0;  ///< Hooked calls around it.
    std::uint64_t ticks = 0;
    std::uint64_t id = 0;      ///< Starts and ends: unique in the process; pushes and pops: level in thread and domain.
    std::uint32_t domain = 0;  ///< Symbols::text(); "" is the default domain.
    std::uint32_t name = 0;    ///< Symbols::text()
};

struct SpanRecord {
    std::uint64_t ticks, what, on;  ///< abi::SpanKind
    std::string_view reason;
};

struct LossRecord {
    std::uint64_t cause, count, thread;  ///< abi::LossCause; in all so far; ring index + 1, 0 for none.
};

struct CpuRecord {
    std::uint64_t ticks, user_ns, system_ns, own_ns, callback_ns;
};

struct EndRecord {
    std::uint64_t ticks, kind;  ///< abi::EndKind
    std::int64_t detail;
    std::uint64_t pid;  ///< Of whom; 0: the recorded process.
};

struct CostRecord {
    std::uint64_t calls, call_ps;
};

struct BlockInfo {
    std::uint32_t segment, index;
    bool salvaged;
    std::uint64_t ticks;
};

/// Receives the records of a trace in the order of the file. What a visitor does not care for it leaves out.
class Visitor {
public:
    virtual ~Visitor() = default;
    virtual void on_block(const BlockInfo&) {}
    virtual void on_block_end() {}
    virtual void on_process(const ProcessRecord&) {}
    virtual void on_anchor(const AnchorRecord&) {}
    virtual void on_object(const ObjectRecord&) {}
    virtual void on_device(const DeviceRecord&) {}
    virtual void on_info(std::string_view /*key*/, std::string_view /*value*/) {}
    virtual void on_call(const CallRecord&) {}
    virtual void on_name(const NameRecord&) {}
    virtual void on_graph_exec(const GraphExecRecord&) {}
    /// Nodes of the graph that the GraphExecRecord with the same exec and ticks tells of.
    virtual void on_graph_nodes(std::uint64_t /*exec*/, std::uint64_t /*ticks*/, std::span<const abi::GraphNode>) {}
    virtual void on_origin(const OriginRecord&) {}
    virtual void on_kept(const KeptRecord&) {}
    virtual void on_activity(const ActivityRecord&) {}
    virtual void on_range(const RangeRecord&) {}
    virtual void on_span(const SpanRecord&) {}
    virtual void on_loss(const LossRecord&) {}
    virtual void on_cpu(const CpuRecord&) {}
    virtual void on_end(const EndRecord&) {}
    virtual void on_cost(const CostRecord&) {}
    virtual void on_notice(std::uint64_t /*ticks*/, std::string_view /*text*/) {}
};

}  // namespace gpuspy::analysis

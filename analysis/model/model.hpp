// What a trace says, aggregated: launches matched with device records, times per kernel, API, thread and device. The
// passes compute from it; nothing here grows with the number of events, except what could not be matched, and the timeline
// where it was asked for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/flops/work.hpp"
#include "analysis/model/busy_time.hpp"
#include "analysis/model/collectives.hpp"
#include "analysis/model/owners.hpp"
#include "analysis/model/samples.hpp"
#include "analysis/model/timeline.hpp"
#include "analysis/model/trace_index.hpp"
#include "analysis/model/waiting_times.hpp"

namespace gpuspy::analysis {

/// A kernel as one owner launched it.
struct KernelStats {
    std::uint64_t records = 0;           ///< Device records, timed or not.
    std::uint64_t untimed_launches = 0;  ///< Launches of it that were made while device times were not recorded.
    std::uint64_t owner_fallback = 0;    ///< Records whose captured launch is not known: owned by the graph's launcher.
    Samples duration_ns;                 ///< Of the timed records.
};

struct ApiStats {
    std::uint64_t failed = 0;
    std::uint64_t outermost = 0;  ///< Calls with no hooked call around them.
    Samples duration_ns;          ///< Of all calls, what is inside them included.
};

struct ThreadStats {
    std::uint64_t calls = 0;
    std::uint64_t api_ns = 0;  ///< Union of its outermost calls.
};

struct DeviceStats {
    std::uint64_t kernels = 0, copies = 0, sets = 0;
    std::uint64_t kernel_ns = 0, copy_ns = 0, set_ns = 0;
    std::uint64_t untimed = 0;
    BusyTime busy;  ///< In ns of the device clock.
};

struct CopyStats {
    std::uint64_t count = 0, bytes = 0;
    std::uint64_t timed_bytes = 0;  ///< Of those with a time.
    Samples duration_ns;
};

/// Launch events with no launch event inside them ("launches"), and how they fared on the device.
struct LaunchCounts {
    std::uint64_t host = 0;      ///< All launches; every other count of calls is of these.
    std::uint64_t captured = 0;  ///< Into a graph: nothing ran.
    std::uint64_t failed = 0;
    std::uint64_t untimed = 0;  ///< Made while device times were not recorded.
    std::uint64_t unhooked = 0;
    std::uint64_t graph_launches = 0;      ///< Neither captured nor failed.
    std::uint64_t graph_nodes = 0;         ///< Kernel nodes of the graphs they launched.
    std::uint64_t unknown_graphs = 0;      ///< Launches of graphs made before the recording began: nodes not known.
    std::uint64_t conditional_graphs = 0;  ///< Launches of graphs with conditional nodes: nodes are a lower bound.
    std::uint64_t expected = 0;            ///< Kernel records that must come.
    std::uint64_t device_records = 0;      ///< Kernel records that came.
    std::uint64_t matched = 0;             ///< Of the expected, those that came.
    std::uint64_t matched_beyond = 0;      ///< Came for launches of which nothing, or not so many, must come.
    std::uint64_t not_returned = 0;        ///< Expected; the trace ends without notice before any later record.
    std::uint64_t unmatched_launches = 0;  ///< Expected, did not come, no cause known.
    std::uint64_t unmatched_records = 0;   ///< Came, no launch known.
    /// Came; the launch was written before the part of the recording that is kept (TraceIndex::kept).
    std::uint64_t launched_before_kept = 0;
    /// Of launches that began before the part that is kept: expected, and may have come before it.
    std::uint64_t returned_before_kept = 0;
    std::uint64_t without_correlation = 0;  ///< Of the unmatched launches: they carried no correlation id.
};

struct UnmatchedKernel {
    std::uint64_t launches = 0, records = 0, not_returned = 0;
};

/// A kernel's name: Symbols::text(), or kNoName.
inline constexpr std::uint32_t kNoName = UINT32_MAX;

struct Model {
    TraceIndex index;
    OwnerTable owners;
    std::map<std::pair<std::uint32_t, std::uint32_t>, KernelStats> kernels;  ///< by name, owner
    std::vector<ApiStats> apis;                                              ///< by Symbols::apis()
    std::vector<ThreadStats> threads;                                        ///< by Symbols::threads()
    std::map<std::uint64_t, DeviceStats> devices;                            ///< by ordinal
    Collectives collectives;
    std::map<std::uint64_t, CopyStats> copies;  ///< by abi::CopyKind
    WaitingTimes waiting;                       ///< Of outermost blocking calls.
    LaunchCounts launches;
    std::map<std::uint32_t, UnmatchedKernel> unmatched;  ///< by name
    std::int64_t first_ns = 0, last_ns = 0;              ///< Of anything recorded, CLOCK_MONOTONIC.
    std::vector<WorkAnswer> works;                       ///< Of the timeline's calls, by HostCall::work.
    std::unique_ptr<Timeline> timeline;                  ///< Where it was asked for (BuildOptions); else nullptr.

    [[nodiscard]] std::uint64_t wall_ns() const {
        return last_ns > first_ns ? static_cast<std::uint64_t>(last_ns - first_ns) : 0;
    }
    [[nodiscard]] const std::string& kernel_name(std::uint32_t name) const;
};

}  // namespace gpuspy::analysis

// Every call and every device record, in memory and linked: for the views that ask when, and not only how much. It takes
// about 130 bytes a call, as much again for one of a library, and 200 a device record; the summary does without it for long traces.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analysis/model/memory_events.hpp"
#include "analysis/model/owners.hpp"
#include "analysis/model/ranges.hpp"
#include "analysis/reader/records.hpp"

namespace gpuspy::analysis {

/// No index.
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// A hooked call. Times are ns of CLOCK_MONOTONIC.
struct HostCall {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint32_t api = 0;          ///< Symbols::apis()
    std::uint32_t thread = 0;       ///< Symbols::threads()
    std::uint32_t parent = kNone;   ///< Timeline::calls: the hooked call right around it.
    std::uint32_t library = kNone;  ///< Timeline::calls: the outermost call of level library around it, or itself.
    std::uint32_t owner = OwnerTable::kUnknown;
    std::uint32_t site = OwnerTable::kUnknown;  ///< OwnerTable: the shared object that made this very call.
    std::uint32_t flags = 0;                    ///< abi::CallFlags
    std::uint32_t work = kNone;  ///< Model::works: what it computes; kNone if it is no call that computes.
    std::int64_t status = 0;
    std::uint64_t caller = 0, stream = 0, correlation = 0, launch_id = 0;
    std::uint64_t function = 0, graph_exec = 0, copy_bytes = 0, copy_kind = 0;
    bool is_launch = false;           ///< A launching call with none inside it.
    bool outermost_blocking = false;  ///< A blocking call with none around it.

    [[nodiscard]] bool has(abi::CallFlags flag) const { return (flags & flag) != 0; }
    [[nodiscard]] std::uint64_t duration_ns() const {
        return end_ns > begin_ns ? static_cast<std::uint64_t>(end_ns - begin_ns) : 0;
    }
};

/// A device record. `record` holds it as it was written, in the device's own clock; durations are taken from there.
struct DeviceActivity {
    std::int64_t begin_ns = 0, end_ns = 0;  ///< In the clock of the calls; 0 if `timed` is false.
    bool timed = false;                     ///< Its time can be relied on.
    std::uint32_t call = kNone;             ///< Timeline::calls: what launched it (of a graph: its launch).
    std::uint32_t captured_call =
        kNone;  ///< Timeline::calls: of a graph's kernel, the captured call that made its node.
    std::uint32_t owner = OwnerTable::kUnknown;
    ActivityRecord record;
};

/// An NVTX range. Times are ns of CLOCK_MONOTONIC; it may begin before the recording.
struct HostRange {
    Range::Kind kind = Range::Kind::kMark;
    bool open = false;  ///< Never ended: it ends with the recording.
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint32_t thread = 0;  ///< Where it began: Symbols::threads()
    std::uint32_t domain = 0;  ///< Symbols::text(); "" is the default domain.
    std::uint32_t name = 0;    ///< Symbols::text()
    std::uint32_t depth = 0;   ///< Pushes of its thread and domain that it lies in.
};

struct Timeline {
    /// What is looked at: from the first to the last moment of anything recorded, or the part that was selected.
    std::int64_t begin_ns = 0, end_ns = 0;
    /// The device's clock is related to the host's. If not, the times of activities are the device's own and must not be
    /// compared with those of calls.
    bool device_clock_known = false;
    std::vector<HostCall> calls;  ///< By begin; a call stands before those inside it.
    /// Where the calls of the selected range begin in `calls`. Those before it began outside of the range and are there for
    /// what follows from them: they launched what is selected, or lie around what did. Not to be counted.
    std::uint32_t first_call = 0;
    /// Pushes, pops and starts of NVTX ranges whose counterpart is not there (RangeList).
    std::uint64_t unpaired_ranges = 0;
    std::vector<HostRange> ranges;           ///< By begin, the enclosing one first.
    std::vector<DeviceActivity> activities;  ///< By device, then begin; those without a time first.
    /// Of a selected part: where each of `activities` stands in the timeline that it was selected from.
    std::vector<std::uint32_t> selected_from;
    std::vector<MemoryEvent> memory;  ///< By time, from the beginning of the recording whatever was selected.

    [[nodiscard]] std::uint64_t wall_ns() const {
        return end_ns > begin_ns ? static_cast<std::uint64_t>(end_ns - begin_ns) : 0;
    }
    /// A call of the range with no call of the range around it.
    [[nodiscard]] bool is_outermost(const HostCall& call) const {
        return call.parent == kNone || call.parent < first_call;
    }
    /// The calls of the selected range.
    [[nodiscard]] std::span<const HostCall> own_calls() const { return std::span(calls).subspan(first_call); }
};

/// Puts calls and activities in order and turns the links, which are positions as things were added, to the new positions.
void sort_timeline(Timeline& timeline);

}  // namespace gpuspy::analysis

// A clock of the host's in CUPTI's records: what cuptiActivityRegisterTimestampCallback sets (torch.profiler: raw ticks of the CPU).
//
// Once the host has registered one, CUPTI stamps all records with it, ours too. The trace keeps one device clock: times are put
// back on it by readings of the host's clock and of CLOCK_MONOTONIC, taken again and again.
#pragma once

#include <cstdint>

#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

using RegisterClock = decltype(&::cuptiActivityRegisterTimestampCallback);

/// The clock of the records that CUPTI completes now: 0 CUPTI's own, else a number for each that the host has set.
std::uint32_t current_clock() noexcept;

/// CUPTI was finalised: its own clock again.
void forget_host_clock() noexcept;

/// Whether CUPTI has it already.
bool is_current_clock(CUpti_TimestampCallbackFunc clock) noexcept;

/// The host sets another clock. `api`: ours while device times are recorded, else nullptr; what was stamped with the clock before must
/// have been flushed.
CUptiResult host_sets_clock(RegisterClock original, CUpti_TimestampCallbackFunc clock, const CuptiApi* api) noexcept;

/// Drain thread, before records are put: reads the host's clock, if it is time to. A clock that takes long is read seldom; `final`: what
/// it needs may be gone, so only if its rate is not known yet.
void read_host_clock(bool final) noexcept;

/// From times of a clock to ns of the device clock, as it was before any host set one.
struct ClockLine {
    std::uint64_t from = 0;  ///< A time of that clock,
    std::uint64_t to = 0;    ///< and what it is on the device clock.
    double rate = 0.0;       ///< ns per unit; 0: not known, all times are.

    std::uint64_t device_ns(std::uint64_t time) const noexcept {
        if (time == 0 || rate == 0.0) return 0;
        if (from == to) return time;  // the device clock itself, exact
        return to + static_cast<std::uint64_t>(
                        static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(time - from)) * rate));
    }
};

/// The lines that a buffer's records can be on: of the clock that was set when it came back first, then of the other one, since
/// CUPTI puts times on a clock when it processes a record, and gives buffers back on a thread of its own. A line whose rate is 0 is
/// of a clock that has been replaced.
struct ClockLines {
    ClockLine line[2];
};
ClockLines lines_of(std::uint32_t clock) noexcept;

/// The device clock now.
std::uint64_t device_now_ns(const CuptiApi& api) noexcept;

}  // namespace gpuspy::hook

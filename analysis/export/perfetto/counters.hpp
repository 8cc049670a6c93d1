// Counters over time, of one device.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/export/placement.hpp"

namespace gpuspy::analysis::perfetto {

struct CounterPoint {
    std::int64_t at_ns = 0;
    std::int64_t value = 0;  ///< From then on.
    friend bool operator==(const CounterPoint&, const CounterPoint&) = default;
};

/// A counter that begins at 0 and changes by the second number at the first, in any order. One point for each moment at which it changes.
std::vector<CounterPoint> counter(std::vector<std::pair<std::int64_t, int>> changes);

/// Kernels, copies and sets that run.
std::vector<CounterPoint> in_flight(const Placement& placement, std::uint64_t device);

/// Kernels, copies and sets whose call has returned and which have not begun. What began before its call returned did not
/// wait. Empty where the clocks are not related.
std::vector<CounterPoint> queue_depth(const Timeline& timeline, const Placement& placement, std::uint64_t device);

}  // namespace gpuspy::analysis::perfetto

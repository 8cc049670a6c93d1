// Counters over time, of one device.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/export/placement.hpp"
#include "analysis/passes/step_series.hpp"

namespace gpuspy::analysis::perfetto {

struct CounterPoint {
    std::int64_t at_ns = 0;
    std::int64_t value = 0;  ///< From then on.
    friend bool operator==(const CounterPoint&, const CounterPoint&) = default;
};

/// A counter that begins at 0, from its steps in any order. One point for each moment at which it changes.
std::vector<CounterPoint> counter(std::vector<Step> steps);

/// Kernels, copies and sets that run.
std::vector<CounterPoint> in_flight(const Placement& placement, std::uint64_t device);

}  // namespace gpuspy::analysis::perfetto

// A number that changes in steps (bytes allocated, kernels in a queue): its average over time, its highest value, and a
// series short enough to draw.
#pragma once

#include <cstdint>
#include <vector>

namespace gpuspy::analysis {

/// A series has at most this many points.
inline constexpr std::size_t kMostSlots = 200;

struct Step {
    std::int64_t at_ns = 0;
    std::int64_t change = 0;
};

/// An equal part of the range.
struct StepSlot {
    std::int64_t begin_ns = 0;
    double average = 0;  ///< Over the slot's time.
    std::uint64_t max = 0;
    std::uint64_t last = 0;  ///< At its end.
};

struct StepSeries {
    double average = 0;  ///< Over the range's time.
    std::uint64_t max = 0;
    std::int64_t max_at_ns = 0;  ///< When it was reached first.
    std::uint64_t last = 0;      ///< At the end of the range.
    std::vector<StepSlot> slots;
};

/// The number is 0 before the first step. What happens at the same moment happens together. Steps before the range count,
/// those behind it do not.
StepSeries step_series(std::vector<Step> steps, std::int64_t begin_ns, std::int64_t end_ns);

}  // namespace gpuspy::analysis

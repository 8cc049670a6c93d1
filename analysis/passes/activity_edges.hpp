// When activities of a device begin and end, in one order: what sweeps over a timeline walk along.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/model/interval_set.hpp"
#include "analysis/model/timeline.hpp"

namespace gpuspy::analysis {

/// By ordinal: all activities of the device, with or without a usable time.
std::map<std::uint64_t, std::span<const DeviceActivity>> activities_by_device(const Timeline& timeline);

/// What activities are cut to: the timeline's range; all of time if the device's clock is not related to the host's.
Interval range_of(const Timeline& timeline);

/// The part of an activity that lies in `range`; empty (begin >= end) if none does or if it has no usable time.
Interval cut_to(const DeviceActivity& activity, const Interval& range);

struct Edge {
    std::int64_t at_ns;
    std::uint32_t activity;  ///< Position in the span.
    bool begins;
};

/// By time; what ends stands before what begins in the same ns. Activities outside `range` have none.
std::vector<Edge> activity_edges(std::span<const DeviceActivity> activities, const Interval& range);

}  // namespace gpuspy::analysis

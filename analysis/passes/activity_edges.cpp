#include "analysis/passes/activity_edges.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace gpuspy::analysis {

std::map<std::uint64_t, std::span<const DeviceActivity>> activities_by_device(const Timeline& timeline) {
    std::map<std::uint64_t, std::span<const DeviceActivity>> devices;
    const std::span<const DeviceActivity> all = timeline.activities;
    for (std::size_t first = 0; first < all.size();) {
        std::size_t end = first;
        while (end < all.size() && all[end].record.device == all[first].record.device) {
            ++end;
        }
        devices.emplace(all[first].record.device, all.subspan(first, end - first));
        first = end;
    }
    return devices;
}

Interval range_of(const Timeline& timeline) {
    using Limits = std::numeric_limits<std::int64_t>;
    return timeline.device_clock_known ? Interval{timeline.begin_ns, timeline.end_ns}
                                       : Interval{Limits::min(), Limits::max()};
}

Interval cut_to(const DeviceActivity& activity, const Interval& range) {
    if (!activity.timed) {
        return {0, 0};
    }
    return {std::max(activity.begin_ns, range.begin_ns), std::min(activity.end_ns, range.end_ns)};
}

std::vector<Edge> activity_edges(std::span<const DeviceActivity> activities, const Interval& range) {
    std::vector<Edge> edges;
    edges.reserve(2 * activities.size());
    for (std::uint32_t position = 0; position < activities.size(); ++position) {
        const Interval part = cut_to(activities[position], range);
        if (part.begin_ns < part.end_ns) {
            edges.push_back({part.begin_ns, position, true});
            edges.push_back({part.end_ns, position, false});
        }
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
        return std::tie(a.at_ns, a.begins, a.activity) < std::tie(b.at_ns, b.begins, b.activity);
    });
    return edges;
}

}  // namespace gpuspy::analysis

#include "analysis/export/perfetto/counters.hpp"

#include <algorithm>

namespace gpuspy::analysis::perfetto {
namespace {

using Changes = std::vector<std::pair<std::int64_t, int>>;

template <class Visit>
void each_of(const Placement& placement, std::uint64_t device, const Visit& visit) {
    for (const StreamTrack& track : placement.tracks) {
        if (track.device == device) {
            std::for_each(track.activities.begin(), track.activities.end(), visit);
        }
    }
}

}  // namespace

std::vector<CounterPoint> counter(Changes changes) {
    std::sort(changes.begin(), changes.end());
    std::vector<CounterPoint> points;
    std::int64_t value = 0;
    for (std::size_t at = 0; at < changes.size();) {
        const std::int64_t moment = changes[at].first;
        const std::int64_t before = value;
        for (; at < changes.size() && changes[at].first == moment; ++at) {
            value += changes[at].second;
        }
        if (value != before) {
            points.push_back({moment, value});
        }
    }
    return points;
}

std::vector<CounterPoint> in_flight(const Placement& placement, std::uint64_t device) {
    Changes changes;
    each_of(placement, device, [&](const PlacedActivity& placed) {
        changes.emplace_back(placed.begin_ns, 1);
        changes.emplace_back(placed.end_ns, -1);
    });
    return counter(std::move(changes));
}

std::vector<CounterPoint> queue_depth(const Timeline& timeline, const Placement& placement, std::uint64_t device) {
    Changes changes;
    if (!placement.clock_known) {
        return {};
    }
    each_of(placement, device, [&](const PlacedActivity& placed) {
        const std::uint32_t call = timeline.activities[placed.activity].call;
        if (call != kNone && timeline.calls[call].end_ns < placed.begin_ns) {
            changes.emplace_back(timeline.calls[call].end_ns, 1);
            changes.emplace_back(placed.begin_ns, -1);
        }
    });
    return counter(std::move(changes));
}

}  // namespace gpuspy::analysis::perfetto

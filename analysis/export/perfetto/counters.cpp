#include "analysis/export/perfetto/counters.hpp"

#include <algorithm>
#include <utility>

namespace gpuspy::analysis::perfetto {
namespace {

template <class Visit>
void each_of(const Placement& placement, std::uint64_t device, const Visit& visit) {
    for (const StreamTrack& track : placement.tracks) {
        if (track.device == device) {
            std::for_each(track.activities.begin(), track.activities.end(), visit);
        }
    }
}

}  // namespace

std::vector<CounterPoint> counter(std::vector<Step> steps) {
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at_ns < b.at_ns; });
    std::vector<CounterPoint> points;
    std::int64_t value = 0;
    for (std::size_t at = 0; at < steps.size();) {
        const std::int64_t moment = steps[at].at_ns;
        const std::int64_t before = value;
        for (; at < steps.size() && steps[at].at_ns == moment; ++at) {
            value += steps[at].change;
        }
        if (value != before) {
            points.push_back({moment, value});
        }
    }
    return points;
}

std::vector<CounterPoint> in_flight(const Placement& placement, std::uint64_t device) {
    std::vector<Step> steps;
    each_of(placement, device, [&](const PlacedActivity& placed) {
        steps.push_back({placed.begin_ns, 1});
        steps.push_back({placed.end_ns, -1});
    });
    return counter(std::move(steps));
}

}  // namespace gpuspy::analysis::perfetto

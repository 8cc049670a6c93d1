#include "analysis/export/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "analysis/model/first_fit.hpp"

namespace gpuspy::analysis {
namespace {

/// What is added to the times of device records: 0 where they are the host's.
std::int64_t shift_ns(const Timeline& timeline) {
    if (timeline.device_clock_known) {
        return 0;
    }
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
    for (const DeviceActivity& activity : timeline.activities) {
        first_ns = activity.timed ? std::min(first_ns, activity.begin_ns) : first_ns;
    }
    return timeline.begin_ns - first_ns;
}

struct OpenTracks {
    std::vector<StreamTrack> siblings;
    FirstFit ends;  // By sibling: when its last record ended, in ns of the device's clock.
};

}  // namespace

Placement place_activities(const Timeline& timeline) {
    Placement placement;
    placement.clock_known = timeline.device_clock_known;
    std::map<std::pair<std::uint64_t, std::uint64_t>, OpenTracks> streams;  // by device, stream
    const std::int64_t shift = shift_ns(timeline);
    for (std::uint32_t position = 0; position < timeline.activities.size(); ++position) {
        const DeviceActivity& activity = timeline.activities[position];
        const ActivityRecord& record = activity.record;
        if (!activity.timed) {
            ++placement.untimed;
            continue;
        }
        auto& [siblings, ends] = streams[{record.device, record.stream}];
        const std::size_t sibling = ends.first_at_most(static_cast<std::int64_t>(record.start_ns));
        if (sibling >= siblings.size()) {
            siblings.push_back({record.device, record.stream, static_cast<std::uint32_t>(sibling), {}});
        }
        std::vector<PlacedActivity>& placed = siblings[sibling].activities;
        const std::int64_t begin_ns = activity.begin_ns + shift;
        if (!placed.empty()) {
            placed.back().end_ns = std::min(placed.back().end_ns, begin_ns);
        }
        placed.push_back({position, begin_ns, begin_ns + static_cast<std::int64_t>(record.duration_ns)});
        ends.set(sibling, static_cast<std::int64_t>(record.start_ns + record.duration_ns));
    }
    for (auto& [key, open] : streams) {
        std::move(open.siblings.begin(), open.siblings.end(), std::back_inserter(placement.tracks));
    }
    return placement;
}

std::vector<std::string> remarks(const Placement& placement) {
    std::vector<std::string> sentences;
    if (placement.untimed != 0) {
        sentences.push_back(fmt::format("{} device record{} without a usable time {} left out", placement.untimed,
                                        placement.untimed == 1 ? "" : "s", placement.untimed == 1 ? "is" : "are"));
    }
    if (!placement.clock_known && !placement.tracks.empty()) {
        sentences.emplace_back(
            "the device's clock is not related to the host's: device records are put at the beginning, and when they "
            "ran "
            "beside the host's calls is not known");
    }
    return sentences;
}

}  // namespace gpuspy::analysis

#include "analysis/export/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

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

struct OpenTrack {
    StreamTrack track;
    std::uint64_t free_at_device_ns = 0;  ///< When its last record ended.
};

}  // namespace

Placement place_activities(const Timeline& timeline) {
    Placement placement;
    placement.clock_known = timeline.device_clock_known;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<OpenTrack>> streams;  // by device, stream
    const std::int64_t shift = shift_ns(timeline);
    for (std::uint32_t position = 0; position < timeline.activities.size(); ++position) {
        const DeviceActivity& activity = timeline.activities[position];
        const ActivityRecord& record = activity.record;
        if (!activity.timed) {
            ++placement.untimed;
            continue;
        }
        std::vector<OpenTrack>& siblings = streams[{record.device, record.stream}];
        auto free = std::find_if(siblings.begin(), siblings.end(),
                                 [&](const OpenTrack& open) { return open.free_at_device_ns <= record.start_ns; });
        if (free == siblings.end()) {
            const auto sibling = static_cast<std::uint32_t>(siblings.size());
            free = siblings.insert(free, OpenTrack{{record.device, record.stream, sibling, {}}});
        }
        std::vector<PlacedActivity>& placed = free->track.activities;
        const std::int64_t begin_ns = activity.begin_ns + shift;
        if (!placed.empty()) {
            placed.back().end_ns = std::min(placed.back().end_ns, begin_ns);
        }
        placed.push_back({position, begin_ns, begin_ns + static_cast<std::int64_t>(record.duration_ns)});
        free->free_at_device_ns = record.start_ns + record.duration_ns;
    }
    for (auto& [key, siblings] : streams) {
        for (OpenTrack& open : siblings) {
            placement.tracks.push_back(std::move(open.track));
        }
    }
    return placement;
}

std::vector<std::string> remarks(const Placement& placement) {
    std::vector<std::string> sentences;
    if (placement.untimed != 0) {
        sentences.push_back(fmt::format("{} device records without a usable time are left out", placement.untimed));
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

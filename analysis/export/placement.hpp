// Where device records stand on tracks that hold one thing at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/timeline.hpp"

namespace gpuspy::analysis {

/// A device record on a track. It lasts as long as the record says, which is of the device's clock; where the conversion of
/// its begin to the host's would make it reach into the next record of the track, which began after it had ended, it ends
/// where that one begins.
struct PlacedActivity {
    std::uint32_t activity = 0;  ///< Timeline::activities
    std::int64_t begin_ns = 0, end_ns = 0;
};

/// What ran on a stream, one after the other. A record that began before those of its stream's tracks had ended opens
/// another one.
struct StreamTrack {
    std::uint64_t device = 0, stream = 0;
    std::uint32_t sibling = 0;               ///< 0: the stream's first.
    std::vector<PlacedActivity> activities;  ///< By begin.
};

struct Placement {
    std::vector<StreamTrack> tracks;  ///< By device, stream, sibling.
    std::uint64_t untimed = 0;        ///< Records without a time that can be relied on: on no track.
    /// Without a relation between the clocks, device records begin with the timeline: when they ran is not known.
    bool clock_known = true;
};

Placement place_activities(const Timeline& timeline);

/// What a person must know of what cannot be placed, in sentences.
std::vector<std::string> remarks(const Placement& placement);

}  // namespace gpuspy::analysis

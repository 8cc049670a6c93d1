#include "analysis/passes/overlaps.hpp"

#include <algorithm>

namespace gpuspy::analysis {

Overlaps::Overlaps(const Timeline& timeline) {
    for (const DeviceActivity& activity : timeline.activities) {
        if (activity.timed) {
            by_begin_.push_back(&activity);
        }
    }
    std::stable_sort(by_begin_.begin(), by_begin_.end(),
                     [](const DeviceActivity* a, const DeviceActivity* b) { return a->begin_ns < b->begin_ns; });
}

std::span<const DeviceActivity* const> Overlaps::with(std::int64_t begin_ns, std::int64_t end_ns) {
    for (; next_ < by_begin_.size() && by_begin_[next_]->begin_ns < end_ns; ++next_) {
        open_.push_back(by_begin_[next_]);
    }
    std::erase_if(open_, [&](const DeviceActivity* activity) { return activity->end_ns <= begin_ns; });
    found_.clear();
    // Another thread's interval, which began before, may have ended later than this one.
    std::copy_if(open_.begin(), open_.end(), std::back_inserter(found_),
                 [&](const DeviceActivity* activity) { return activity->begin_ns < end_ns; });
    return found_;
}

IntervalSet busy_time(const Timeline& timeline) {
    IntervalSet busy;
    for (const DeviceActivity& activity : timeline.activities) {
        if (activity.timed) {
            busy.add(activity.begin_ns, activity.end_ns);
        }
    }
    return busy;
}

}  // namespace gpuspy::analysis

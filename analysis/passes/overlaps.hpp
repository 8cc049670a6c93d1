// What ran on the devices during intervals of the host's time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/model/interval_set.hpp"
#include "analysis/model/timeline.hpp"

namespace gpuspy::analysis {

/// Asked with intervals in the order of their begins, it looks at every activity about once.
class Overlaps {
public:
    explicit Overlaps(const Timeline& timeline);

    /// Activities with a time, of all devices, that share a moment with [begin, end). Valid until the next call.
    std::span<const DeviceActivity* const> with(std::int64_t begin_ns, std::int64_t end_ns);

private:
    std::vector<const DeviceActivity*> by_begin_;
    std::size_t next_ = 0;
    std::vector<const DeviceActivity*> open_;  // begun before the end of some interval so far, and not over yet
    std::vector<const DeviceActivity*> found_;
};

/// The time of a timeline at which any device ran something, in the host's time.
IntervalSet busy_time(const Timeline& timeline);

}  // namespace gpuspy::analysis

// When something was busy: exact in length, first and last moment; the intervals themselves only since the last settle().
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/model/interval_set.hpp"

namespace gpuspy::analysis {

class BusyTime {
public:
    /// Empty and reversed intervals add nothing.
    void add(std::int64_t begin_ns, std::int64_t end_ns) {
        if (begin_ns < end_ns) {
            first_ns_ = std::min(first_ns_, begin_ns);
            last_ns_ = std::max(last_ns_, end_ns);
            open_.add(begin_ns, end_ns);
        }
    }
    /// Nothing that begins before `moment_ns` will be added any more.
    void settle(std::int64_t moment_ns) {
        for (const Interval& interval : open_.take_before(moment_ns)) {
            settled_ns_ += length_of(interval);
        }
    }

    /// Intervals that are not settled.
    [[nodiscard]] std::size_t open() const { return open_.kept(); }
    /// Length of the union.
    [[nodiscard]] std::uint64_t length_ns() const { return settled_ns_ + open_.length_ns(); }
    [[nodiscard]] bool empty() const { return first_ns_ > last_ns_; }
    [[nodiscard]] std::int64_t first_ns() const { return first_ns_; }
    [[nodiscard]] std::int64_t last_ns() const { return last_ns_; }

private:
    IntervalSet open_;
    std::uint64_t settled_ns_ = 0;
    std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace gpuspy::analysis

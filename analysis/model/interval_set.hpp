// A set of moments, as disjoint intervals: 16 bytes for each stretch without a gap, whatever number of intervals went
// in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gpuspy::analysis {

struct Interval {
    std::int64_t begin_ns, end_ns;  ///< [begin, end)
    friend bool operator==(const Interval&, const Interval&) = default;
};

inline std::uint64_t length_of(const Interval& interval) {
    return static_cast<std::uint64_t>(interval.end_ns) - static_cast<std::uint64_t>(interval.begin_ns);
}

class IntervalSet {
public:
    /// Empty and reversed intervals add nothing.
    void add(std::int64_t begin_ns, std::int64_t end_ns);
    void add(const IntervalSet& other);

    /// Disjoint, not touching, in order.
    [[nodiscard]] const std::vector<Interval>& merged() const;
    /// Length of the union.
    [[nodiscard]] std::uint64_t length_ns() const;
    /// At most so many intervals are kept; it costs nothing to ask.
    [[nodiscard]] std::size_t kept() const { return merged_.size() + recent_.size(); }
    /// Takes out what lies before `moment_ns`, as merged(). What is added later counts from there on.
    std::vector<Interval> take_before(std::int64_t moment_ns);

private:
    void compact() const;

    std::int64_t taken_until_ns_ = std::numeric_limits<std::int64_t>::min();
    // What is added out of order waits in recent_ until it is worth a merge, or until someone asks.
    mutable std::vector<Interval> merged_;
    mutable std::vector<Interval> recent_;
};

/// Length of what both sets hold.
std::uint64_t overlap_ns(const IntervalSet& a, const IntervalSet& b);
/// Likewise; both as IntervalSet::merged().
std::uint64_t overlap_ns(const std::vector<Interval>& a, const std::vector<Interval>& b);

}  // namespace gpuspy::analysis

// A clock in terms of another: piecewise linear between readings of both taken at the same moment.
#pragma once

#include <cstdint>
#include <vector>

namespace gpuspy::analysis {

class LinearMap {
public:
    /// One reading of both clocks. Readings may come in any order.
    void add(std::uint64_t from, std::uint64_t to) { points_.push_back({from, to}); }

    /// Sorts, and drops readings after which a clock would stand still or run backwards. With a single reading the
    /// slope is `fallback_slope` (units of `to` per unit of `from`). Returns how many were dropped.
    std::size_t finish(double fallback_slope);

    [[nodiscard]] bool empty() const { return points_.empty(); }
    [[nodiscard]] std::size_t size() const { return points_.size(); }

    /// Before the first and after the last reading the slope is that between the first and the last. The result is
    /// clamped to +-(2^62 - 1), so that differences of two results do not overflow. 0 without any reading.
    [[nodiscard]] std::int64_t at(std::uint64_t from) const;

private:
    struct Point {
        std::uint64_t from, to;
    };
    std::vector<Point> points_;
    long double slope_ = 1;
};

}  // namespace gpuspy::analysis

#include "analysis/model/linear_map.hpp"

#include <algorithm>

namespace gpuspy::analysis {
namespace {

constexpr long double kLimit = 4611686018427387903.0L;  // 2^62 - 1: twice that is an int64_t

long double difference(std::uint64_t a, std::uint64_t b) {
    return a >= b ? static_cast<long double>(a - b) : -static_cast<long double>(b - a);
}

std::int64_t clamped(long double value) {
    return static_cast<std::int64_t>(std::clamp(value, -kLimit, kLimit));
}

}  // namespace

std::size_t LinearMap::finish(double fallback_slope) {
    std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) { return a.from < b.from; });
    std::vector<Point> kept;
    for (const Point& point : points_) {
        if (kept.empty() || (point.from > kept.back().from && point.to > kept.back().to)) {
            kept.push_back(point);
        }
    }
    const std::size_t dropped = points_.size() - kept.size();
    points_ = std::move(kept);
    slope_ = fallback_slope;
    if (points_.size() > 1) {
        slope_ =
            difference(points_.back().to, points_.front().to) / difference(points_.back().from, points_.front().from);
    }
    return dropped;
}

std::int64_t LinearMap::at(std::uint64_t from) const {
    if (points_.empty()) {
        return 0;
    }
    const auto after = std::upper_bound(points_.begin(), points_.end(), from,
                                        [](std::uint64_t value, const Point& point) { return value < point.from; });
    if (after == points_.begin() || after == points_.end()) {
        const Point& nearest = after == points_.begin() ? points_.front() : points_.back();
        return clamped(static_cast<long double>(nearest.to) + difference(from, nearest.from) * slope_);
    }
    const Point& a = *(after - 1);
    const Point& b = *after;
    const long double slope = difference(b.to, a.to) / difference(b.from, a.from);
    return clamped(static_cast<long double>(a.to) + difference(from, a.from) * slope);
}

}  // namespace gpuspy::analysis

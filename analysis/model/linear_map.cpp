#include "analysis/model/linear_map.hpp"

#include <algorithm>
#include <limits>

namespace gpuspy::analysis {
namespace {

constexpr long double kLimit = 4611686018427387903.0L;  // 2^62 - 1: twice that is an int64_t
constexpr long double kTwoTo63 = 9223372036854775808.0L;

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
    pieces_.clear();
    if (points_.empty()) {
        return dropped;
    }
    const auto slope_between = [](const Point& a, const Point& b) {
        return difference(b.to, a.to) / difference(b.from, a.from);
    };
    const long double whole_slope =
        points_.size() > 1 ? slope_between(points_.front(), points_.back()) : static_cast<long double>(fallback_slope);
    if (points_.front().from != 0) {
        pieces_.push_back(piece(0, points_.front().from - 1, points_.front(), whole_slope));
    }
    for (std::size_t next = 1; next < points_.size(); ++next) {
        const Point& a = points_[next - 1];
        pieces_.push_back(piece(a.from, points_[next].from - 1, a, slope_between(a, points_[next])));
    }
    pieces_.push_back(
        piece(points_.back().from, std::numeric_limits<std::uint64_t>::max(), points_.back(), whole_slope));
    return dropped;
}

LinearMap::Piece LinearMap::piece(std::uint64_t low, std::uint64_t last, Point base, long double slope) {
    // Up to 2^53 a sum in floating point of 64 bits is within 2^-11 of the true one; Piece::at leaves room for that.
    constexpr std::uint64_t kGreatestBase = std::uint64_t{1} << 53;
    const bool is_small = slope > 0 && slope < 2 && base.to < kGreatestBase;
    const auto slope_2_63 = is_small ? static_cast<std::uint64_t>(slope * kTwoTo63) : 0;
    return {low, last, base, slope, slope_2_63, static_cast<long double>(slope_2_63) == slope * kTwoTo63};
}

std::int64_t LinearMap::Piece::precisely(std::uint64_t from) const {
    return clamped(static_cast<long double>(base.to) + difference(from, base.from) * slope);
}

std::size_t LinearMap::find(std::uint64_t from) const {
    const auto behind = std::upper_bound(pieces_.begin(), pieces_.end(), from,
                                         [](std::uint64_t value, const Piece& piece) { return value < piece.low; });
    return static_cast<std::size_t>(behind - pieces_.begin()) - 1;
}

}  // namespace gpuspy::analysis

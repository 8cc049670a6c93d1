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
    [[nodiscard]] std::int64_t at(std::uint64_t from) const {
        return pieces_.empty() ? 0 : pieces_[find(from)].at(from);
    }

    /// at() for moments that mostly lie near each other: remembers between which readings the last one was.
    class Near {
    public:
        explicit Near(const LinearMap& map) : map_(&map) {}
        [[nodiscard]] std::int64_t at(std::uint64_t from) {
            if (map_->pieces_.empty()) {
                return 0;
            }
            if (!map_->pieces_[piece_].holds(from)) {
                piece_ = map_->find(from);
            }
            return map_->pieces_[piece_].at(from);
        }

    private:
        const LinearMap* map_;
        std::size_t piece_ = 0;
    };

private:
    struct Point {
        std::uint64_t from, to;
    };
    /// One line: through `base`, for moments in [low, last].
    struct Piece {
        std::uint64_t low, last;
        Point base;
        long double slope;
        std::uint64_t slope_2_63;  ///< slope * 2^63, rounded down; 0: too large for it, or `base` is.
        bool exact;                ///< Nothing was rounded in it.

        [[nodiscard]] bool holds(std::uint64_t from) const { return from >= low && from <= last; }
        [[nodiscard]] std::int64_t at(std::uint64_t from) const {
            const std::uint64_t distance = from - base.from;
            if (slope_2_63 == 0 || from < base.from || distance >= kFarDistance) {
                return precisely(from);
            }
            __extension__ using Wide = unsigned __int128;
            const Wide product = Wide{distance} * slope_2_63;
            // Whole numbers give what floating point gives, but where its rounding could reach another nanosecond: that of the sum
            // the next one, that of the product the one before.
            constexpr std::uint64_t kOne = std::uint64_t{1} << 63;
            const std::uint64_t fraction = static_cast<std::uint64_t>(product) & (kOne - 1);
            if (fraction > kOne - (kOne >> 9) || (!exact && fraction < (kOne >> 20))) {
                return precisely(from);
            }
            return static_cast<std::int64_t>(base.to + static_cast<std::uint64_t>(product >> 63));
        }
        [[nodiscard]] std::int64_t precisely(std::uint64_t from) const;
    };

    static constexpr std::uint64_t kFarDistance = std::uint64_t{1} << 40;

    static Piece piece(std::uint64_t low, std::uint64_t last, Point base, long double slope);
    /// The piece that holds `from`.
    [[nodiscard]] std::size_t find(std::uint64_t from) const;

    std::vector<Point> points_;
    std::vector<Piece> pieces_;
};

}  // namespace gpuspy::analysis

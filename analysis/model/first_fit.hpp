// The first of many rows in which something fits, without looking at all of them: thousands of things at once on one stream
// would else cost the square of their number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gpuspy::analysis {

/// Rows 0, 1, 2 ... without an end, each with a value; a row that was not set yet has the least there is. O(log rows).
class FirstFit {
public:
    /// The first row whose value is at most `limit`.
    [[nodiscard]] std::size_t first_at_most(std::int64_t limit) const {
        if (least_.empty() || least_[1] > limit) {
            return rows_;
        }
        std::size_t node = 1;
        while (node < rows_) {
            node = least_[2 * node] <= limit ? 2 * node : 2 * node + 1;
        }
        return node - rows_;
    }

    void set(std::size_t row, std::int64_t value) {
        while (row >= rows_) {
            grow();
        }
        std::size_t node = rows_ + row;
        least_[node] = value;
        for (node /= 2; node > 0; node /= 2) {
            least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
        }
    }

private:
    void grow() {
        const std::size_t before = rows_;
        std::vector<std::int64_t> values(least_.begin() + static_cast<std::ptrdiff_t>(before), least_.end());
        rows_ = std::max<std::size_t>(1, 2 * before);
        least_.assign(2 * rows_, std::numeric_limits<std::int64_t>::min());
        std::copy(values.begin(), values.end(), least_.begin() + static_cast<std::ptrdiff_t>(rows_));
        for (std::size_t node = rows_ - 1; node > 0; --node) {
            least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
        }
    }

    std::size_t rows_ = 0;  // A power of two, or 0.
    std::vector<std::int64_t>
        least_;  // A tree: [1] is of all, 2n and 2n + 1 lie below n; the rows' own from [rows_] on.
};

}  // namespace gpuspy::analysis

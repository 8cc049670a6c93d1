// Count, sum, least, greatest and quantiles of durations (or any numbers): exact up to kExactSamples values, from then
// on quantiles within 1 %, in memory that does not grow.
#pragma once

#include <cstdint>
#include <vector>

namespace gpuspy::analysis {

class Samples {
public:
    static constexpr std::size_t kExactSamples = 10'000;

    void add(std::uint64_t value);

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] std::uint64_t sum() const { return sum_; }
    [[nodiscard]] std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
    [[nodiscard]] std::uint64_t max() const { return max_; }
    /// Rounded to the nearest integer; 0 without samples.
    [[nodiscard]] std::uint64_t mean() const { return count_ == 0 ? 0 : (sum_ + count_ / 2) / count_; }
    /// Standard deviation of a sample (n - 1), as nvprof's successors print it; 0 with fewer than two samples.
    [[nodiscard]] double deviation() const;
    /// The value at rank q (count - 1), between two values their mean in proportion (the median of an even number of
    /// values is the mean of the middle two, rounded down). 0 without samples. `q` in [0, 1].
    [[nodiscard]] std::uint64_t quantile(double q) const;
    [[nodiscard]] std::uint64_t median() const { return quantile(0.5); }
    /// Whether quantiles are exact; else within 1 %.
    [[nodiscard]] bool exact() const { return histogram_.empty(); }

private:
    std::uint64_t count_ = 0, sum_ = 0, min_ = 0, max_ = 0;
    __extension__ using Wide = unsigned __int128;
    Wide squares_ = 0;
    mutable std::vector<std::uint64_t> values_;  // sorted when asked
    std::vector<std::uint64_t> histogram_;
};

}  // namespace gpuspy::analysis

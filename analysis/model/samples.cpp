#include "analysis/model/samples.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gpuspy::analysis {
namespace {

// A bucket per 1/64 of a power of two: the middle of a bucket is within 1/128 of every value in it. Values below 128
// have a bucket each.
constexpr unsigned kSubBits = 6;

std::size_t bucket_of(std::uint64_t value) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - static_cast<int>(kSubBits) - 1);
    return (static_cast<std::size_t>(shift) << kSubBits) + static_cast<std::size_t>(value >> shift);
}

std::uint64_t middle_of(std::size_t bucket) {
    const std::size_t sub_buckets = std::size_t{1} << kSubBits;
    if (bucket < 2 * sub_buckets) {
        return bucket;
    }
    const std::size_t shift = (bucket >> kSubBits) - 1;
    const std::uint64_t low = static_cast<std::uint64_t>(bucket - (shift << kSubBits)) << shift;
    return low + ((std::uint64_t{1} << shift) - 1) / 2;
}

void count_in(std::vector<std::uint64_t>& histogram, std::uint64_t value) {
    const std::size_t bucket = bucket_of(value);
    if (bucket >= histogram.size()) {
        histogram.resize(bucket + 1);
    }
    ++histogram[bucket];
}

}  // namespace

void Samples::add(std::uint64_t value) {
    min_ = count_ == 0 ? value : std::min(min_, value);
    max_ = std::max(max_, value);
    sum_ += value;
    ++count_;
    if (__builtin_add_overflow(squares_, Wide{value} * value, &squares_)) {
        squares_ = ~Wide{0};  // Durations of centuries.
    }
    if (count_ <= kExactSamples) {
        values_.push_back(value);
        return;
    }
    if (!values_.empty()) {
        for (const std::uint64_t earlier : values_) {
            count_in(histogram_, earlier);
        }
        values_ = {};
    }
    count_in(histogram_, value);
}

double Samples::deviation() const {
    if (count_ < 2) {
        return 0;
    }
    // The squares of the distances from the mean rounded down, which are whole, less what the rounding added.
    const std::uint64_t mean = sum_ / count_;
    const std::uint64_t rest = sum_ % count_;
    const Wide about_mean = squares_ - Wide{mean} * (Wide{sum_} + rest);
    const auto n = static_cast<long double>(count_);
    const long double distances = static_cast<long double>(about_mean) - static_cast<long double>(rest) * rest / n;
    return static_cast<double>(std::sqrt(std::max(0.0L, distances) / (n - 1)));
}

std::uint64_t Samples::quantile(double q) const {
    if (count_ == 0) {
        return 0;
    }
    const double rank = std::clamp(q, 0.0, 1.0) * static_cast<double>(count_ - 1);
    if (exact()) {
        std::sort(values_.begin(), values_.end());
        const auto low = static_cast<std::size_t>(rank);
        const std::size_t high = std::min(low + 1, values_.size() - 1);
        const double part = rank - static_cast<double>(low);
        return values_[low] + static_cast<std::uint64_t>(static_cast<double>(values_[high] - values_[low]) * part);
    }
    const auto wanted = static_cast<std::uint64_t>(std::llround(rank));
    std::uint64_t below = 0;
    for (std::size_t bucket = 0; bucket < histogram_.size(); ++bucket) {
        below += histogram_[bucket];
        if (below > wanted) {
            return std::clamp(middle_of(bucket), min_, max_);
        }
    }
    return max_;
}

}  // namespace gpuspy::analysis

// The columns that tables of kernels, calls and copies share.
#pragma once

#include <cstdint>

#include "analysis/model/samples.hpp"

namespace gpuspy::analysis {

struct DurationStats {
    std::uint64_t timed = 0;  ///< How many have a time; the others below are of these.
    std::uint64_t time_ns = 0, avg_ns = 0, med_ns = 0, min_ns = 0, max_ns = 0;
    bool med_exact = true;  ///< Else within 1 %.
    double std_dev_ns = 0;
};

inline DurationStats duration_stats(const Samples& samples) {
    return {samples.count(), samples.sum(), samples.mean(),  samples.median(),
            samples.min(),   samples.max(), samples.exact(), samples.deviation()};
}

}  // namespace gpuspy::analysis

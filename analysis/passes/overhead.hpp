// What gpuspy itself cost: an estimate.
#pragma once

#include <cstdint>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

struct Overhead {
    bool known = false;
    std::uint64_t calls = 0;        ///< Recorded calls.
    double call_ns = 0;             ///< Calibrated cost of one.
    std::uint64_t calls_ns = 0;     ///< calls x call_ns, on the host's threads.
    std::uint64_t drain_ns = 0;     ///< CPU time of the drain thread.
    std::uint64_t callback_ns = 0;  ///< In CUPTI's callbacks.
    std::uint64_t total_ns = 0;
    double share_of_wall = 0;
};

Overhead overhead(const Model& model);

}  // namespace gpuspy::analysis

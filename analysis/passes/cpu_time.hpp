// CPU time of the process.
#pragma once

#include <cstdint>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

struct CpuTime {
    bool known = false;
    bool since_process_start = false;  ///< There is one sample only: totals since the start of the process.
    std::uint64_t user_ns = 0,
                  system_ns = 0;  ///< Of all threads, gpuspy's own among them, between first and last sample.
    std::uint64_t own_ns = 0;     ///< Of gpuspy's drain thread, in the same span.
    double share_of_wall = 0;     ///< (user + system) / wall.
};

CpuTime cpu_time(const Model& model);

}  // namespace gpuspy::analysis

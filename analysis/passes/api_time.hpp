// Time that threads spend in hooked calls.
#pragma once

#include <cstdint>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

struct ApiTime {
    std::uint64_t time_ns = 0;  ///< Sum over threads of the union of their outermost calls.
    std::uint64_t calls = 0;    ///< All hooked calls, nested ones too.
    std::uint64_t threads = 0;  ///< Threads that made any.
    double share_of_wall = 0;   ///< Above 1 only with several threads.
};

ApiTime api_time(const Model& model);

}  // namespace gpuspy::analysis

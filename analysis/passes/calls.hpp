// The table of hooked calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/duration_stats.hpp"

namespace gpuspy::analysis {

struct CallRow {
    std::string name, library;
    std::uint64_t count = 0;
    std::uint64_t failed = 0;
    std::uint64_t outermost = 0;  ///< With no hooked call around them.
    DurationStats duration;       ///< What is inside a call is included in its time.
};

/// Longest total first.
std::vector<CallRow> call_table(const Model& model);

}  // namespace gpuspy::analysis

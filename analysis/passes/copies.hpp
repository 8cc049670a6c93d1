// Copies and sets by direction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/duration_stats.hpp"

namespace gpuspy::analysis {

struct CopyRow {
    std::string direction;  ///< "HtoD", "DtoH", "DtoD", "PtoP", ... "memset", "unknown".
    std::uint64_t count = 0, bytes = 0;
    DurationStats duration;
    double gb_per_s = 0;  ///< 10^9 bytes a second, of those with a time; 0 without any.
};

/// "HtoD", ...: of abi::CopyKind.
std::string copy_direction(std::uint64_t kind);

/// Most bytes first.
std::vector<CopyRow> copy_table(const Model& model);

}  // namespace gpuspy::analysis

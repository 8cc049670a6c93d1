// Copies and sets by direction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/duration_stats.hpp"

namespace gpuspy::analysis {

/// Of an abi::CopyKind: "HtoD", "DtoH", "DtoD", "PtoP", ... "memset", "unknown".
std::string direction_name(std::uint64_t kind);

/// Of a CUpti_ActivityMemoryKind (cupti_activity.h): "pageable", "device static" ..., "unknown"; "kind N" of a later one.
std::string memory_kind_name(std::uint32_t kind);

struct CopyRow {
    std::string direction;  ///< As direction_name() has it.
    std::uint64_t count = 0, bytes = 0;
    DurationStats duration;
    double gb_per_s = 0;  ///< 10^9 bytes a second, of those with a time; 0 without any.
};

/// Most bytes first.
std::vector<CopyRow> copy_table(const Model& model);

}  // namespace gpuspy::analysis

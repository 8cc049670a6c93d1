// Copies and sets of a timeline: by direction and kinds of memory, and by size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/duration_stats.hpp"

namespace gpuspy::analysis {

struct CopyUse {
    std::string direction;  ///< As copy_table() names it.
    std::string source,
        destination;  ///< Kinds of memory: "pageable", "pinned", "device" ... Of sets both are the one set.
    std::uint64_t least_bytes = 0;  ///< By size alone: from here,
    std::uint64_t below_bytes = 0;  ///< to below here.
    std::uint64_t count = 0, bytes = 0;
    DurationStats duration;
    double gb_per_s = 0;  ///< 10^9 bytes a second, of those with a time; 0 without any.
    /// The most that the memory of its device gives, for copies inside one and sets: a copy reads and writes, so half of the
    /// memory's bandwidth. Not known of links between host and device.
    std::optional<double> peak_gb_per_s;
};

/// A row for each direction and pair of kinds. Most bytes first.
std::vector<CopyUse> copies_by_memory(const Model& model, const Timeline& timeline);
/// A row for each direction, pair of kinds and size class: 1 to 3 bytes, 4 to 15, 16 to 63 ... By direction and size.
std::vector<CopyUse> copies_by_size(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis

// The table of kernels: a row for each kernel and owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/duration_stats.hpp"

namespace gpuspy::analysis {

struct KernelRow {
    std::string mangled;
    std::string library;  ///< Empty: launched outside library calls.
    std::string owner;
    std::uint64_t count = 0;  ///< Device records, and launches made while device times were not recorded.
    std::uint64_t owner_by_graph_launch = 0;  ///< Of these, owned by who launched the graph: the capture was not seen.
    DurationStats duration;
    double share_of_kernels = 0;  ///< Of the time of all rows.
    double share_of_wall = 0;
};

/// Longest total first, then highest count, then by name.
std::vector<KernelRow> kernel_table(const Model& model);

}  // namespace gpuspy::analysis

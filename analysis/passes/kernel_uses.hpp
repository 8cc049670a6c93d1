// Kernels of a timeline, by name and owner, or by how they were launched too.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/duration_stats.hpp"

namespace gpuspy::analysis {

/// What a kernel was launched with, as its device record says.
struct LaunchConfig {
    std::array<std::uint32_t, 3> grid{}, block{};  ///< In blocks, in threads.
    std::uint32_t registers = 0;                   ///< Of a thread.
    std::uint32_t shared_bytes = 0;                ///< Of a block, static and dynamic.
    friend auto operator<=>(const LaunchConfig&, const LaunchConfig&) = default;
};

struct KernelUse {
    std::string mangled;
    std::string library;  ///< Empty: launched outside library calls.
    std::string owner;
    LaunchConfig config;        ///< With `by_config` alone.
    std::uint64_t configs = 0;  ///< How many different ones.
    std::uint64_t count = 0;    ///< Device records.
    DurationStats duration;
    double share_of_kernels = 0;  ///< Of the time of all rows.
    double share_of_wall = 0;
};

/// Longest total first, then highest count, then by name. Device records only: launches without one are not in a timeline.
std::vector<KernelUse> kernel_uses(const Model& model, const Timeline& timeline, bool by_config);

}  // namespace gpuspy::analysis

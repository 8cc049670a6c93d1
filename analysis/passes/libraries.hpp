// GPU time by owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/passes/kernels.hpp"

namespace gpuspy::analysis {

struct LibraryRow {
    std::string library;  ///< Empty: a shared object outside library calls.
    std::string owner;
    std::uint64_t kernels = 0;  ///< Distinct ones.
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0;  ///< Of its kernels.
    double share_of_kernels = 0;
};

/// Longest total first.
std::vector<LibraryRow> library_table(const std::vector<KernelRow>& kernels);

}  // namespace gpuspy::analysis

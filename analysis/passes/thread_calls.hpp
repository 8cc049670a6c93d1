// Hooked calls of a timeline: by API, by thread, and what library calls own on the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/calls.hpp"

namespace gpuspy::analysis {

/// As call_table() has them, of the calls of a timeline. Longest total first.
std::vector<CallRow> call_table(const Model& model, const Timeline& timeline);

struct ThreadCalls {
    std::uint32_t tid = 0;
    std::string name;
    std::uint64_t calls = 0;     ///< Nested ones too.
    std::uint64_t launches = 0;  ///< Launching calls with none inside.
    std::uint64_t failed = 0;
    std::uint64_t api_ns = 0;   ///< Union of its outermost calls.
    std::uint64_t sync_ns = 0;  ///< Union of its outermost blocking calls.
    double api_share_of_wall = 0, sync_share_of_wall = 0;
};

/// Most API time first.
std::vector<ThreadCalls> thread_table(const Model& model, const Timeline& timeline);

/// An outermost library call, by API, and what ran on the device because of it.
struct LibraryCallRow {
    std::string name, library;
    std::uint64_t count = 0;
    std::uint64_t host_ns = 0;
    std::uint64_t kernels = 0, copies = 0;  ///< Device records; copies and sets.
    std::uint64_t gpu_ns = 0;               ///< Sum of their durations.
    double share_of_gpu = 0;                ///< Of the sum over all device records.
};

/// Most GPU time first. Kernels of a graph belong to the library call that was captured.
std::vector<LibraryCallRow> library_call_table(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis

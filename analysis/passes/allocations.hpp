// Memory that a process allocated by CUDA's calls and what it freed again: how much at a time, and what was left at the end.
// Of the whole process: calls do not say on which device they allocate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/step_series.hpp"

namespace gpuspy::analysis {

/// Memory of one kind.
struct PlaceUse {
    MemoryPlace place = MemoryPlace::kDevice;
    std::uint64_t allocations = 0, frees = 0;  ///< In the range.
    std::uint64_t allocated_bytes = 0;         ///< By these allocations together.
    StepSeries bytes;                          ///< What was allocated at a time: its highest value is the peak.
    std::uint64_t live = 0;                    ///< Allocations that were not freed at the end of the range.
};

/// Allocations alike that were not freed at the end of the range.
struct NotFreed {
    MemoryPlace place = MemoryPlace::kDevice;
    std::uint64_t bytes = 0;  ///< Of one.
    std::uint64_t count = 0, total_bytes = 0;
    std::int64_t first_ns = 0;  ///< When the first of them was allocated.
    std::string call, site;     ///< What allocated, and the shared object that called it.
};

/// Calls that allocate, but do not say how much.
struct NotCovered {
    std::string call;
    std::uint64_t count = 0;
};

struct Allocations {
    std::vector<PlaceUse> places;         ///< Those that were used.
    std::vector<NotFreed> not_freed;      ///< Most bytes first.
    std::vector<NotCovered> not_covered;  ///< By name.
    std::uint64_t unknown_frees = 0;      ///< Of addresses that no recorded call allocated.
    std::uint64_t replaced = 0;           ///< Addresses that were given out again, though their free was not recorded.
};

Allocations allocations(const Model& model, const Timeline& timeline);

/// "device", "pinned", "registered", "managed", "physical".
std::string place_name(MemoryPlace place);

}  // namespace gpuspy::analysis

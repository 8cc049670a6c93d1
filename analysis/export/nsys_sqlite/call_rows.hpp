// Calls on the host: CUPTI_ACTIVITY_KIND_RUNTIME and _SYNCHRONIZATION, CUDNN_EVENTS, CUBLAS_EVENTS, and two tables of our
// own for what Nsight Systems has no table for.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/export/nsys_sqlite/context.hpp"

namespace gpuspy::analysis::nsys {

/// For each call of a timeline: the outermost call of the driver or the runtime around it, or itself; kNone in none. That
/// one has the row in CUPTI_ACTIVITY_KIND_RUNTIME, as Nsight Systems does not show the driver calls that the runtime
/// makes, and the correlation id of all that was launched inside it.
std::vector<std::uint32_t> api_calls(const Model& model, const Timeline& timeline);

/// Ids of our own: CUPTI's have 32 bits and come again in a long run, and tools join by them.
inline std::int64_t correlation_id(std::uint32_t call) {
    return std::int64_t{call} + 1;
}

void write_calls(const Context& context, const std::vector<std::uint32_t>& api_calls);

}  // namespace gpuspy::analysis::nsys

// NVTX ranges by name: how long they took on the host, and what was launched inside them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/duration_stats.hpp"

namespace gpuspy::analysis {

struct RangeRow {
    Range::Kind kind = Range::Kind::kPushPop;
    std::string domain;  ///< "" is the default domain.
    std::string name;
    std::uint64_t count = 0;
    std::uint64_t open = 0;      ///< Of these, those that never ended.
    DurationStats duration;      ///< Host time; marks have none.
    std::uint64_t launches = 0;  ///< Launching calls that began inside; ranges inside one count too.
    std::uint64_t kernels = 0;   ///< Device records of calls that began inside.
    std::uint64_t gpu_ns = 0;    ///< Sum over the device records (copies and sets too) of calls that began inside.
    /// From the begin of the first of them to the end of the last, a sum over the ranges of this name: what Nsight Systems
    /// calls projected on the GPU. 0 where nothing inside has a device time.
    std::uint64_t projected_ns = 0;
};

/// A range's name without what PyTorch's emit_nvtx adds to count its operators: "aten::mm, seq = 5, op_id = 12" is
/// "aten::mm".
std::string_view range_group(std::string_view name);

/// By domain, range_group() and kind, longest total first. A push/pop range holds the calls of its thread, a start/end range those of all threads.
std::vector<RangeRow> range_table(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis

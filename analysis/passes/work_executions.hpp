// Executions of library calls in a timeline: which device records belong to which call's work, replays of graphs included.
#pragma once

#include <cstdint>

#include "analysis/model/model.hpp"
#include "analysis/passes/flops.hpp"

namespace gpuspy::analysis {

struct WorkExecutions {
    FlopsInput input;
    /// Calls of known work that were neither captured nor executed in the timeline: no device record of theirs is there.
    std::uint64_t without_records = 0;
    std::uint64_t in_part = 0;  ///< Executions of which some device time was not selected (WorkExecution::share).
    std::uint64_t told_by_kernels = 0;  ///< Executions whose kernels' names told FP32 and TF32 apart.
};

/// A device record belongs to the outermost call of known work around its launch: what that call does by calling other
/// libraries is in its own FLOPs. Where none is known, to the outermost library call that computes. A graph's records
/// belong to the captured calls that made their nodes, once for each launch of the graph. Without any device records, each
/// call that was not captured counts as executed once.
///
/// Of a selected part of the timeline (a range of time, a stream, kernels by name) only the device time that was selected counts, on
/// both sides: of kernels, and of the FLOPs of an operation as if they were spread evenly over its device time.
WorkExecutions work_executions(const Model& model, const Timeline& timeline);

/// `type`, or where it is FP32 or TF32 the one that the kernel's name says.
MathType told_by_kernel(MathType type, std::string_view kernel);

}  // namespace gpuspy::analysis

// Everything that a report says. Renderers print it and compute nothing.
#pragma once

#include <optional>
#include <vector>

#include "analysis/passes/api_time.hpp"
#include "analysis/passes/calls.hpp"
#include "analysis/passes/collectives.hpp"
#include "analysis/passes/completeness.hpp"
#include "analysis/passes/copies.hpp"
#include "analysis/passes/cpu_time.hpp"
#include "analysis/passes/device_time.hpp"
#include "analysis/passes/iterations.hpp"
#include "analysis/passes/kernels.hpp"
#include "analysis/passes/libraries.hpp"
#include "analysis/passes/overhead.hpp"
#include "analysis/passes/run_info.hpp"
#include "analysis/passes/sync.hpp"
#include "analysis/passes/verdict.hpp"

namespace gpuspy::analysis {

struct Findings {
    RunInfo run;
    Completeness completeness;
    GpuTime gpu;
    ApiTime api;
    CpuTime cpu;
    Sync sync;
    std::vector<KernelRow> kernels;
    std::vector<LibraryRow> libraries;
    std::vector<CallRow> calls;
    std::vector<CollectiveRow> collectives;
    std::vector<CopyRow> copies;
    Overhead overhead;
    // Where the model has a timeline.
    std::optional<Verdict> verdict;
    std::optional<Iterations> iterations;
    std::optional<Verdict> steady_verdict;  ///< Of the steady state alone, where iterations were found.
};

Findings find_all(const Model& model);
/// All but what needs the timeline.
Findings find_totals(const Model& model);

}  // namespace gpuspy::analysis

// The totals of a part of a trace, to be compared as those of a whole one are.
#pragma once

#include <string>

#include "analysis/model/selection.hpp"
#include "analysis/passes/trace_facts.hpp"

namespace gpuspy::analysis {

/// What can be told of `part`, which is `selection` of the model's timeline. What ran on devices is of what was selected, its
/// durations whole and unions cut to the range; calls are of the range of time. `lost` and `complete` are of the whole
/// recording; CPU time is known where time was not restricted, copies where no kernels were chosen by name. `words`: how the
/// part was asked for.
TraceFacts part_facts(const Model& model, const Timeline& part, const Selection& selection, const std::string& words);

}  // namespace gpuspy::analysis

// Calls as other profilers list them: of a runtime call and the driver calls inside it, the outer one alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

/// By call of the timeline: the outermost call of the runtime or the driver around it, or itself; kNone for library calls.
std::vector<std::uint32_t> api_rows(const Model& model, const Timeline& timeline);

/// The name that CUPTI's users know a call by: of "__cudaLaunchKernel_ptsz" cudaLaunchKernel. Versions of a function (_v2)
/// are others.
std::string_view public_name(std::string_view name);

}  // namespace gpuspy::analysis

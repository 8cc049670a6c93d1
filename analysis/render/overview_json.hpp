// The overview for the page: numbers in lists, to keep it small.
#pragma once

#include <string>
#include <vector>

#include "analysis/passes/overview.hpp"
#include "analysis/render/kernel_name.hpp"

namespace gpuspy::analysis {

/// [{"text", "short"}]: kernels as the page's tables name them, and the function's own name alone.
std::string render_names_json(const std::vector<std::string>& mangled, NameForm names);

/// {"wall_ns", "pixel_ns", "unplaced", "categories": [{"kind", "name"}], "names": [{"text", "short"}], "lanes": [{"host",
/// "device", "stream", "tid", "thread", "row", "count", "time_ns", "blocks": [[begin_ns, length_ns, count, time_ns, name,
/// category], ..]}]}. "device" and "stream" of streams alone, "tid" and "thread" of threads alone.
std::string render_overview_json(const Overview& all, NameForm names);

}  // namespace gpuspy::analysis

// The overview for the page: numbers in lists, to keep it small.
#pragma once

#include <string>

#include "analysis/passes/overview.hpp"
#include "analysis/render/kernel_name.hpp"

namespace gpuspy::analysis {

/// {"wall_ns", "pixel_ns", "unplaced", "categories": [{"kind", "name"}], "names": [{"text", "short"}], "lanes": [{"host",
/// "device", "stream", "tid", "thread", "row", "count", "time_ns", "blocks": [[begin_ns, length_ns, count, time_ns, name,
/// category], ..]}]}. "device" and "stream" of streams alone, "tid" and "thread" of threads alone.
std::string render_overview_json(const Overview& all, NameForm names);

}  // namespace gpuspy::analysis

// The only place where the analysis touches the collector's code: whoever comes first after a death empties the rings.
#pragma once

#include <string>

namespace gpuspy::analysis {

/// Empties the rings of the trace's process into it, if that process is dead and nobody did so. Does nothing otherwise,
/// nor when it fails: the report then says that the trace has no end.
void salvage_first(const std::string& trace_path);

}  // namespace gpuspy::analysis

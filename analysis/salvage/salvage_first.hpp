// The only place where the analysis touches the collector's code: whoever comes first after a death empties the rings.
#pragma once

#include <cstdint>
#include <string>

namespace gpuspy::analysis {

/// Rings of an older layout, which nobody reads any more. A program of ours removes them and says so; a library in another's leaves them.
enum class OlderRings : std::uint8_t { kRemove, kLeave };

/// Empties the rings of the trace's process into it, if that process is dead and nobody did so. Does nothing otherwise,
/// nor when it fails: the report then says that the trace has no end. "" or one line: what was removed unread.
std::string salvage_first(const std::string& trace_path, OlderRings older);

}  // namespace gpuspy::analysis

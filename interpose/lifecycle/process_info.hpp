// What a trace says about the process: command line, host, rank, allowed environment.
#pragma once

#include "collector/sink/records.hpp"

namespace gpuspy::hook {

/// Fills everything but the clocks and ring_path. The strings lie in memory of ours that stays.
void read_process_info(sink::ProcessInfo& into) noexcept;

}  // namespace gpuspy::hook

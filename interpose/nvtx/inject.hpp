// Whether the program's NVTX hands its ranges to us.
#pragma once

#include "collector/sink/drain.hpp"

namespace gpuspy::hook::nvtx {

/// On the drain thread, at each pass: tells the trace (info "nvtx") when it changes, and once what there was no room for.
void write_facts(sink::RecordSink& sink) noexcept;

/// In a forked child: its own trace is told anew.
void forget_facts() noexcept;

}  // namespace gpuspy::hook::nvtx

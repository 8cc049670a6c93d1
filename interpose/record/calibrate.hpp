// What one recorded call costs, measured when recording starts, so that the report can state the cost of this very run.
#pragma once

#include <cstdint>

#include "interpose/record/thread.hpp"

namespace gpuspy::hook {

/// Ticks that entering and leaving a hook and writing a launch event take: the best of 64 rounds of 64, on a scratch ring.
std::uint64_t measure_call_ticks(ThreadState& scratch) noexcept;

}  // namespace gpuspy::hook

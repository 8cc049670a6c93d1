// Stream capture: which launches do not run but become nodes of a graph.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/record/call.hpp"

namespace gpuspy::hook {

extern std::atomic<int> active_captures;

void capture_began() noexcept;
void capture_ended() noexcept;

/// Whether any stream of the process may be capturing: one relaxed load, so that a launch outside captures pays nothing.
inline bool is_any_capture_active() noexcept {
    return active_captures.load(std::memory_order_relaxed) > 0;
}

/// A driver call that makes device work returned successfully while captures are active: asks the driver (by a call that
/// changes nothing) whether its stream is capturing, marks the call captured, and remembers which node it made.
/// `per_thread`: the call's stream 0 is the thread's own.
void mark_if_captured(const CallFrame& frame, CallParts& parts, bool per_thread) noexcept;

}  // namespace gpuspy::hook

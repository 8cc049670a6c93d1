// The body that every recorded hook shares: stamp, nest, call, stamp, write.
//
// Nothing here allocates, locks or makes a system call, except begin_call's slow path: a thread's first event, and the first
// event of the process (lifecycle/session.hpp).
#pragma once

#include <cstdint>

#include "interpose/record/thread.hpp"

namespace gpuspy::hook {

/// What a hook knows of its call, to be written when it returns. `flags` says which fields count.
struct CallParts {
    std::uint32_t flags = 0;
    std::int32_t status = 0;
    std::uint64_t stream = 0;
    std::uint64_t correlation = 0;
    std::uint64_t launch_id = 0;
    std::uint64_t function = 0;
    std::uint32_t grid[3] = {};
    std::uint32_t block[3] = {};
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t copy_kind = 0;
    std::uint64_t copy_bytes = 0;
    std::uint64_t exec = 0;
    const std::uint64_t* arguments = nullptr;  ///< ArgumentsPart
    std::uint32_t argument_count = 0;
};

/// A call in progress, on the hook's stack.
struct CallFrame {
    ThreadState* state;
    const void* caller;
    std::uint64_t begin_ticks;
    std::uint32_t depth;  ///< Index into ThreadState::open.
    HookId id;
    bool device_call;  ///< This frame is the thread's innermost driver call that makes device work.
};

/// Enters a hook. False: the call is not to be recorded (off, inside us, inside itself): the hook calls its original, no more.
/// `frame_address` tells frames that longjmp or a cancelled thread left behind from live ones (record/stack.hpp).
bool begin_call(CallFrame& frame, HookId id, const void* caller, const void* frame_address) noexcept;

/// Leaves it: writes the event.
void end_call(const CallFrame& frame, const CallParts& parts) noexcept;

/// Next launch id of a thread (abi::LaunchIdPart).
inline std::uint64_t next_launch_id(ThreadState& state) noexcept {
    return (std::uint64_t{state.ring->index} << 40) | ++state.ring->launch_count;
}

}  // namespace gpuspy::hook

// The body that every recorded hook shares: stamp, nest, call, stamp, write.
//
// Nothing here allocates, locks or makes a system call, except begin_call's slow path: a thread's first event, and the first
// event of the process (lifecycle/session.hpp).
#pragma once

#include <cstdint>

#include "collector/abi/event.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook {

/// What a hook knows of its call, to be written when it returns. `flags` says which of the parts count; the others are not set.
///
/// Whole words, as they lie in the ring: halves that are stored one by one and read back as a whole make the processor wait
/// (docs/measurements.md, "Cost of a hook").
struct CallParts {
    std::uint32_t flags = 0;
    std::int32_t status = 0;
    std::uint64_t stream = 0;  ///< Also asked of calls that have none (capture.cpp).
    std::uint64_t correlation;
    std::uint64_t launch_id;
    std::uint64_t kernel[sizeof(abi::KernelPart) / 8];
    std::uint64_t copy[sizeof(abi::CopyPart) / 8];
    std::uint64_t exec;
    const std::uint64_t* arguments;  ///< ArgumentsPart
    std::uint32_t argument_count = 0;
};

constexpr std::uint64_t word_of_halves(std::uint32_t low, std::uint32_t high) noexcept {
    return low | std::uint64_t{high} << 32;
}

inline void put_kernel(CallParts& parts, std::uint64_t function, const std::uint32_t (&grid)[3],
                       const std::uint32_t (&block)[3], std::uint64_t dynamic_shared_bytes) noexcept {
    parts.flags |= abi::kCallKernel;
    parts.kernel[0] = function;
    parts.kernel[1] = word_of_halves(grid[0], grid[1]);
    parts.kernel[2] = word_of_halves(grid[2], block[0]);
    parts.kernel[3] = word_of_halves(block[1], block[2]);
    parts.kernel[4] = static_cast<std::uint32_t>(dynamic_shared_bytes);
}

inline void put_copy(CallParts& parts, abi::CopyKind kind, std::uint64_t bytes) noexcept {
    parts.flags |= abi::kCallCopy;
    parts.copy[0] = bytes;
    parts.copy[1] = static_cast<std::uint32_t>(kind);
}

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

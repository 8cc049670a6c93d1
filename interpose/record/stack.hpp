// Which of a thread's calls are still in progress, told by where their frames lie.
//
// A call that longjmp, an exception or cancellation left never ends for us. On one stack that is plain: it grows down, so a frame that does not lie
// above the present one is gone (one that does seems to go on, until the thread is above it again). But a thread has more stacks than one: a signal handler may run on an alternate one, and fibres have their own.
#pragma once

namespace gpuspy::hook {

/// The highest address of the stack on which the calling thread was started. Makes system calls.
const void* own_stack_end() noexcept;

/// The rare case of is_left(): `frame` does not lie above `now`.
bool is_left_below(const void* frame, const void* now, const void* stack_end) noexcept;

/// Whether the call with this frame is gone, or set aside (a fibre's, of which the thread has left the stack), now that the thread is in a
/// frame at `now`. `stack_end`: own_stack_end().
///
/// What begins on an alternate signal stack interrupts the calls of other stacks. What begins on a stack above the thread's own is inside of its
/// own stack's calls; between any other two stacks the addresses decide, so that of two fibres one may seem to be inside the other's call.
inline bool is_left(const void* frame, const void* now, const void* stack_end) noexcept {
    if (frame > now) [[likely]]
        return frame > stack_end && now <= stack_end;
    return is_left_below(frame, now, stack_end);
}

}  // namespace gpuspy::hook

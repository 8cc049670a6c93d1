// A thread that has CUPTI give back its buffers a few times a second, full or not, so that a kill costs no more than that.
//
// Not the drain thread: rings ran full while it was in a flush (docs/measurements.md, "Losses that were mended"). Not CUPTI's own periodic
// flush, which gives back full buffers alone.
#pragma once

namespace gpuspy::hook {

/// Starts it, with every signal blocked; once for a process. `flush` is called five times a second. Without memory for a thread there
/// is none.
void start_flusher(void (*flush)() noexcept) noexcept;

/// Ends it; waits until it is out of its flush, for half a second at most. From any thread but its own.
void stop_flusher() noexcept;

/// In a forked child, where the thread does not exist.
void forget_flusher() noexcept;

}  // namespace gpuspy::hook

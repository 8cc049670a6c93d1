// The recording of this process: when it starts, ends, and what a fork does to it.
#pragma once

#include <cstdint>

#include "collector/sink/drain.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook {

/// The calling thread's state in the current recording: starts the recording, or claims a ring, if need be. nullptr: not
/// recording (off, ended, inside set-up, no ring left: a loss, if it `counts`). The slow path of every hook; also for set-up hooks.
ThreadState* enter_recording(bool counts = true) noexcept;

/// The calling thread's state if it has one in the current recording; never starts anything.
ThreadState* current_thread() noexcept;

/// The rings of this process, for losses that belong to no thread.
void count_loss(abi::LossCause cause, std::uint64_t count) noexcept;

/// Tells the drain thread that a ring fills up.
void wake_drain() noexcept;

/// The process is about to leave without its exit handlers: does what ours would, as far as no other thread's events are lost by it.
void end_without_handlers() noexcept;

/// Waits until the drain thread has made a pass, or that long. False: it has not.
bool flush_trace(std::uint32_t timeout_ms) noexcept;

/// The host is about to unload a library: waits, for a short time, until the trace says where those that were loaded lie.
void save_objects() noexcept;

/// Registers the handler that flushes at exit, to run before all handlers registered so far: called again after CUPTI is
/// opened, whose own handlers must not run before our flush.
void register_exit_handler() noexcept;

/// The process's last moments, after its exit handlers: how many calls came after the recording had ended goes into the trace.
void say_late_calls() noexcept;

}  // namespace gpuspy::hook

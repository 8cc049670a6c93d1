// Activity records for two: the host and us.
//
// CUPTI knows one pair of buffer callbacks, the last that was registered: those here, whoever registers. In a session of the host's
// (callbacks, and a kind of record enabled, until its flush after it has disabled all) CUPTI gets the host's buffers; a full one is read
// here first, then handed on, the same memory, since CUPTI reads records back only from a buffer that it filled. Without a
// session it gets ours. When a session begins ours are flushed, or the host's first records would come in them. In it nothing is flushed
// but by the host: torch.profiler takes none that came of themselves. A kind that both enabled stays on until both have disabled
// it (shared_kinds.hpp); records that the host would not have alone are left out of what it reads (host_records.hpp).
#pragma once

#include <cstdint>

#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

/// The calls of the host's, each with its original.
CUptiResult host_registers_callbacks(decltype(&::cuptiActivityRegisterCallbacks) original,
                                     CUpti_BuffersCallbackRequestFunc request,
                                     CUpti_BuffersCallbackCompleteFunc complete) noexcept;
CUptiResult host_counts_dropped(decltype(&::cuptiActivityGetNumDroppedRecords) original, CUcontext context,
                                std::uint32_t stream, std::size_t* dropped) noexcept;
CUptiResult host_sets_timestamps(decltype(&::cuptiActivityRegisterTimestampCallback) original,
                                 CUpti_TimestampCallbackFunc clock) noexcept;

CUptiResult host_sets_attribute(decltype(&::cuptiActivitySetAttribute) original, CUpti_ActivityAttribute attribute,
                                std::size_t* bytes, void* value) noexcept;
/// A function of CUPTI's that flushes, with its other arguments.
using FlushCall = CUptiResult (*)(void* context, std::uint32_t flag);
CUptiResult host_flushes(FlushCall original, void* context, std::uint32_t flag) noexcept;

/// The host has callbacks, or a kind, that it had not: a session begins when it has both.
void begin_session_if_due() noexcept;

/// CUPTI while we record device times, else nullptr.
const CuptiApi* our_records() noexcept;

/// We begin: callbacks and kinds. `api` stays where it is until end_our_records().
CUptiResult begin_our_records(const CuptiApi& api) noexcept;
/// Gives back what we enabled alone. Everything is flushed first.
void end_our_records() noexcept;
/// Before CUPTI is finalised: what it holds of ours comes back.
void flush_before_detach() noexcept;
/// The host called cuptiFinalize: CUPTI has forgotten callbacks and kinds of both.
void forget_records() noexcept;
/// In a forked child, where no other thread exists.
void forget_records_after_fork() noexcept;

/// A few times a second (flusher.hpp): CUPTI gives back what it holds. Not in a session of the host's.
void flush_periodically() noexcept;

/// Whether the host has callbacks or kinds of the shared copy.
bool host_has_records() noexcept;

/// Drain thread: the last flush. Buffers of the host's are read, and kept for its own next flush: its callbacks may belong to what
/// is destroyed by now.
void flush_at_end(const CuptiApi& api) noexcept;

/// Drain thread: records that CUPTI dropped since the last time.
std::uint64_t take_dropped(const CuptiApi& api) noexcept;

/// Time spent in the two callbacks so far, without the host's own.
std::uint64_t buffer_callback_ns() noexcept;

}  // namespace gpuspy::hook

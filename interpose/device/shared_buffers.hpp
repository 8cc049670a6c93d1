// Activity records for two: the host and us.
//
// CUPTI knows one pair of buffer callbacks, the last that was registered: those here, whoever registers. While the host has a
// session (callbacks, and a kind of record enabled), CUPTI gets the host's buffers; a full one is read here first, then handed on,
// the same memory, since CUPTI reads records back only from a buffer that it filled. Without a session it gets ours. When a
// session begins, ours are flushed by force, or the host's first records would come in them. When it ends, the host's last buffers
// stay until it flushes, as they would without us: torch.profiler takes none that came of themselves. A kind that both enabled
// stays on until both have disabled it; records of kinds that only we enabled are left out of what the host reads.
#pragma once

#include <cstdint>

#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

/// The calls of the host's, each with its original.
CUptiResult host_registers_callbacks(decltype(&::cuptiActivityRegisterCallbacks) original,
                                     CUpti_BuffersCallbackRequestFunc request,
                                     CUpti_BuffersCallbackCompleteFunc complete) noexcept;
CUptiResult host_next_record(decltype(&::cuptiActivityGetNextRecord) original, std::uint8_t* buffer, std::size_t bytes,
                             CUpti_Activity** record) noexcept;
CUptiResult host_counts_dropped(decltype(&::cuptiActivityGetNumDroppedRecords) original, CUcontext context,
                                std::uint32_t stream, std::size_t* dropped) noexcept;
CUptiResult host_sets_flush_period(decltype(&::cuptiActivityFlushPeriod) original, std::uint32_t wanted_ms) noexcept;
CUptiResult host_sets_timestamps(decltype(&::cuptiActivityRegisterTimestampCallback) original,
                                 CUpti_TimestampCallbackFunc clock) noexcept;

CUptiResult host_flushes(decltype(&::cuptiActivityFlushAll) original, std::uint32_t flag) noexcept;

/// Before the host enables a kind of records, whole or for some calls. True: it had not been.
bool host_enables_kind(CUpti_ActivityKind kind) noexcept;
/// CUPTI refused, after a true.
void host_failed_to_enable(CUpti_ActivityKind kind) noexcept;
/// Whether CUPTI is to disable a kind that the host disables; not while we need it.
bool may_disable_kind(CUpti_ActivityKind kind) noexcept;
void host_disabled_kind(CUpti_ActivityKind kind) noexcept;

/// We begin: callbacks and kinds. `api` stays where it is until end_our_records().
CUptiResult begin_our_records(const CuptiApi& api) noexcept;
/// Gives back what we enabled alone. Everything is flushed first.
void end_our_records() noexcept;
/// The host called cuptiFinalize: CUPTI has forgotten callbacks and kinds of both.
void forget_records() noexcept;

/// Drain thread, each pass: sees to it that CUPTI gives back what is not full, a few times a second: on a thread of its own where it
/// can (a flush takes milliseconds, in which the drain thread must empty rings).
void flush_if_due(const CuptiApi& api) noexcept;

/// Drain thread: the last flush. Buffers of the host's are read, and kept for its own next flush: its callbacks may belong to what
/// is destroyed by now.
void flush_at_end(const CuptiApi& api) noexcept;

/// Drain thread, before it visits the pool: records that were read out of the host's buffers are put there.
void give_copies() noexcept;

/// A kind of records that the host has enabled at some time: not ours to read, nor to miss.
bool is_hosts_kind(CUpti_ActivityKind kind) noexcept;

/// Drain thread: records that CUPTI dropped since the last time.
std::uint64_t take_dropped(const CuptiApi& api) noexcept;

/// Time spent in the two callbacks so far, without the host's own.
std::uint64_t buffer_callback_ns() noexcept;

}  // namespace gpuspy::hook

// A buffer of the host's that holds records for two: what we read of it, and what the host is shown.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/device/cupti_api.hpp"
#include "interpose/device/host_kinds.hpp"

namespace gpuspy::hook {

/// What the host is shown of a buffer.
struct HostView {
    Kinds kinds;                     ///< That it had enabled.
    bool is_over;                    ///< It has disabled them all:
    std::uint32_t last_correlation;  ///< our kinds of calls after this one are not its own.
};

/// CUPTI gets a buffer of the host's: in which session of the host's (host_session.hpp).
void note_session_of_buffer(std::uint8_t* buffer, std::uint32_t session) noexcept;

/// What was noted last, until the buffer came back; `unknown` where nothing was.
std::uint32_t session_of_buffer(std::uint8_t* buffer, std::uint32_t unknown) noexcept;

/// CUPTI gave a buffer of the host's back: copies our records out of it, for the drain thread, and remembers what of it is the
/// host's. On CUPTI's thread, or the one that flushes; no lock is held while CUPTI reads.
void share_hosts_buffer(const CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes,
                        const HostView& view) noexcept;

/// One that holds none of ours: the same memory may have, before.
void leave_hosts_buffer(std::uint8_t* buffer) noexcept;

/// The host's cuptiActivityGetNextRecord.
CUptiResult host_next_record(decltype(&::cuptiActivityGetNextRecord) original, std::uint8_t* buffer, std::size_t bytes,
                             CUpti_Activity** record) noexcept;

/// The calling thread is one of ours: records of its calls of the driver, which the host would not have alone, are not shown to the host.
void hide_calls_of_this_thread() noexcept;

/// Drain thread, before it visits the pool: what was copied is put there.
void give_copies() noexcept;

/// In a forked child: none are left of the parent's.
void forget_copies() noexcept;

}  // namespace gpuspy::hook

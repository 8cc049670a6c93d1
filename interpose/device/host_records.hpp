// A buffer of the host's that holds records for two: what we read of it, and what the host is shown.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

/// A set of kinds of records. Those beyond 62, of a CUPTI newer than our headers, are one.
using Kinds = std::uint64_t;

constexpr Kinds bit_of(std::uint32_t kind) noexcept {
    return Kinds{1} << (kind < 63 ? kind : 63);
}
static_assert(CUPTI_ACTIVITY_KIND_COUNT < 63);

/// Those that we enable.
inline constexpr CUpti_ActivityKind kOurKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                                   CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
inline constexpr Kinds kOurKindBits =
    bit_of(kOurKinds[0]) | bit_of(kOurKinds[1]) | bit_of(kOurKinds[2]) | bit_of(kOurKinds[3]);

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

/// Drain thread, before it visits the pool: what was copied is put there.
void give_copies() noexcept;

/// In a forked child: none are left of the parent's.
void forget_copies() noexcept;

}  // namespace gpuspy::hook

// Sessions of the host's: spans in which it wants activity records.
//
// One begins with the host's first kind and ends with its flush after it has disabled all.
#pragma once

#include <cstdint>

#include "interpose/device/host_records.hpp"

namespace gpuspy::hook {

enum class SessionStage : std::uint32_t {
    kNone,      ///< CUPTI fills our buffers.
    kOn,        ///< It fills the host's.
    kDraining,  ///< Still: the host has disabled everything, and has not flushed yet.
};

/// Sequentially consistent (shared_buffers.cpp counts threads that look at it).
SessionStage session_stage() noexcept;

/// Of the last session that began. They are counted from 1.
std::uint32_t session_number() noexcept;

/// Begins one, or goes on with the one that is there; with the kinds that the host has enabled.
void begin_session() noexcept;

/// The host flushed after it has disabled everything.
void leave_session() noexcept;

/// The same, of a host that has not flushed for long.
void leave_session_if_abandoned() noexcept;

/// What the host is shown of a buffer that CUPTI asked for in the session `first` and gave back just now. That may be in a later one: then
/// rather what was between them too than less than there was.
HostView view_since_session(std::uint32_t first) noexcept;

/// The host has disabled the last kind: the session ends with its next flush.
void end_session() noexcept;

/// A driver call that makes device work begins, with this id: so that it is known which of them the host's session has.
void note_correlation(std::uint32_t correlation) noexcept;

/// CUPTI was finalised, or this is a forked child. The host's kinds are forgotten too.
void forget_session() noexcept;

}  // namespace gpuspy::hook

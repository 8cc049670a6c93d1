// Kinds of records that the host and we enable: one that both enabled stays on until both have disabled it.
#pragma once

#include "interpose/device/cupti_api.hpp"
#include "interpose/device/host_kinds.hpp"

namespace gpuspy::hook {

/// Ours, but for those that a kind of the host's excludes.
CUptiResult enable_our_kinds(const CuptiApi& api) noexcept;
/// Those that the host has not enabled. False: it has enabled all of them.
bool disable_our_kinds(const CuptiApi& api) noexcept;

/// Before the host enables a kind of records, whole or in part. True: it had not been.
bool host_enables_kind(CUpti_ActivityKind kind, KindScope scope) noexcept;
/// Whether CUPTI is to disable a kind that the host disables; not while we need it.
bool may_disable_kind(CUpti_ActivityKind kind) noexcept;
/// The host has disabled it, or CUPTI refused after a true.
void host_disabled_kind(CUpti_ActivityKind kind, KindScope scope) noexcept;

/// CUPTI says that a kind of the host's does not go with others: ours are switched off. False: there are none but the host's own.
bool set_our_kinds_aside() noexcept;
/// They were not the reason.
void take_our_kinds_back() noexcept;

/// Drain thread: whether the host has begun to trace graphs as a whole since the last time.
bool take_whole_graphs() noexcept;

}  // namespace gpuspy::hook

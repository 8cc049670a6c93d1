// What the drain thread collects of the device: records, changes of device times, facts.
#pragma once

namespace gpuspy::hook {

/// Device times are on or off from now: the drain thread writes it. One too many within a drain interval replaces the last: what holds in the
/// end is said, and the calls between carry their correlation ids all the same.
void announce_device_change(bool on, const char* reason) noexcept;

/// Longer reasons are cut.
inline constexpr unsigned kMaxReasonBytes = 400;

/// Any thread that takes CUPTI away: buffers that are not read yet cannot be read any more, since CUPTI has their names. Their records are
/// counted as lost.
void lose_buffers() noexcept;

/// In a forked child: nothing was collected yet.
void forget_collection() noexcept;

}  // namespace gpuspy::hook

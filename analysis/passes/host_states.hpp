// What a thread is doing at each moment, as far as hooked calls tell: the host's side of a device's gaps.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

enum class HostState : std::uint8_t {
    kSync,    ///< In a call that waits for the device.
    kLaunch,  ///< In a launching call.
    kCopy,    ///< In a call that copies or sets memory.
    kOther,   ///< In another hooked call.
    kOutside  ///< In none.
};

/// A stretch of time of one state. Of kOther, the call is the one that says most: an allocation inside a library's call is
/// an allocation.
struct HostStretch {
    std::int64_t begin_ns = 0, end_ns = 0;
    HostState state = HostState::kOutside;
    std::uint32_t call = kNone;  ///< Timeline::calls: what made the state, the outermost of its kind; kNone outside.
};

class HostStates {
public:
    /// `timeline` must outlive it.
    HostStates(const Model& model, const Timeline& timeline);

    /// Hands on the stretches that [begin, end) consists of, in order, without holes.
    void between(std::uint32_t thread, std::int64_t begin_ns, std::int64_t end_ns,
                 const std::function<void(const HostStretch&)>& visit) const;
    /// The call whose state the thread is in right before and at `moment_ns`; nullptr outside of calls.
    [[nodiscard]] const HostCall* call_at(std::uint32_t thread, std::int64_t moment_ns) const;

private:
    const Timeline& timeline_;
    std::vector<std::vector<HostStretch>> threads_;  // disjoint, in order; not kOutside
};

}  // namespace gpuspy::analysis

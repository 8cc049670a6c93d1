// Gaps of a device, in which nothing ran there, and what each was due to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

/// "Host" is the thread that launched the activity behind the gap.
enum class IdleCause : std::uint8_t {
    kStart,      ///< Before the device's first activity.
    kEnd,        ///< Behind its last one.
    kSync,       ///< Host in a call that waits for the device.
    kLaunch,     ///< Host in a launching call.
    kCopy,       ///< Host in a call that copies or sets memory.
    kOtherCall,  ///< Host in another hooked call.
    kOutside,    ///< Host outside of hooked calls.
    kLatency,    ///< The activity was launched, and came within kLatencyLimitNs.
    kQueued,  ///< The activity was launched, and waited longer: for another stream, an event, the host, another device.
    kNotRecorded,  ///< Calls or device times were not being recorded.
    kNotKnown,     ///< No call is known that launched the activity.
};
inline constexpr std::size_t kIdleCauses = 11;

/// Part of a gap in which an activity is queued: shorter ones are what any launch takes to reach the device and what lies
/// between two kernels of a queue (1 to 5 us on current GPUs), longer ones are waits.
inline constexpr std::uint64_t kLatencyLimitNs = 10'000;

/// "host in a launch call", ...
const char* idle_cause_text(IdleCause cause);

struct GapPart {
    IdleCause cause = IdleCause::kNotKnown;
    std::uint32_t api = kNone;  ///< Symbols::apis(): the call that the host was in.
    std::uint64_t time_ns = 0;
    std::uint64_t after_wait_ns = 0;  ///< Of time_ns, what the gap's wait accounts for.
};

struct Gap {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint32_t before = kNone, after = kNone;  ///< Timeline::activities: what ran before it and behind it.
    std::uint32_t thread = kNone;                 ///< Symbols::threads(): the host.
    /// The gap began while the host was waiting for the device in a call of this API (Symbols::apis()), kNone otherwise: the
    /// queue ran empty because of the wait. Without it the host would have come earlier, by the time that the device was
    /// busy during the call at most: so much of the gap's beginning is "after the wait".
    std::uint32_t wait_api = kNone;
    std::vector<GapPart> parts;  ///< One for each cause and API, longest first.

    [[nodiscard]] std::uint64_t length_ns() const { return static_cast<std::uint64_t>(end_ns - begin_ns); }
};

/// What gaps have in common: a cause, or a cause and a call.
struct CauseTotal {
    IdleCause cause = IdleCause::kNotKnown;
    std::string call;  ///< Of calls alone.
    std::uint64_t time_ns = 0, after_wait_ns = 0;
    std::uint64_t gaps = 0;
    std::uint64_t longest_ns = 0;  ///< In one gap.
    double share_of_wall = 0, share_of_idle = 0;
};

struct DeviceIdle {
    std::uint64_t ordinal = 0;
    std::string name;
    std::uint64_t untimed = 0;  ///< Activities without a usable time: gaps may hold them.
    /// Activities of the range that a selection by stream or name left out: gaps may hold them.
    std::uint64_t left_out = 0;
    std::uint64_t kernels = 0;  ///< With a time.
    std::uint64_t wall_ns = 0, busy_ns = 0, idle_ns = 0;
    std::uint64_t kernel_busy_ns = 0;  ///< Some kernel was in flight.
    std::vector<CauseTotal> causes;    ///< Longest first.
    std::vector<CauseTotal> calls;     ///< Those of causes that are calls, by call; longest first.
    std::vector<Gap> gaps;             ///< Longest first.
};

struct Idle {
    bool known = false;               ///< The device's clock is related to the host's: else there are no devices.
    std::vector<DeviceIdle> devices;  ///< With a timed activity in the range, by ordinal.
};

/// Cut to the timeline's range. What the host did is taken from the whole recording where `timeline` is a part of it.
Idle idle(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis

// What holds a device back, with the numbers that say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/idle.hpp"

namespace gpuspy::analysis {

enum class Bound : std::uint8_t {
    kNotKnown,    ///< No device times that can be related to the host's, or most of the idle time has no known cause.
    kGpu,         ///< Busy enough, mostly with kernels.
    kCopy,        ///< Copies.
    kSync,        ///< The host waits for the device, and the device then for the host.
    kLaunch,      ///< Launches cost more than what they run.
    kHost,        ///< The host does something else.
    kDependency,  ///< Work was queued and had to wait.
};

/// A device that is busy for at least this share of its span is bound by what it runs; below it by what it waits for.
inline constexpr double kBusyShare = 0.8;

/// Of the span between a device's first and last activity, so that neither start nor end of the run decides. kernels_ns to
/// not_known_ns add up to span_ns.
struct Verdict {
    Bound bound = Bound::kNotKnown;
    std::optional<std::uint64_t> device;  ///< None: all devices together, times added up.
    std::uint64_t span_ns = 0;
    std::uint64_t kernels_ns = 0;     ///< Some kernel was in flight.
    std::uint64_t copies_ns = 0;      ///< Copies or sets and no kernel.
    std::uint64_t sync_ns = 0;        ///< Idle after a wait, or host in a synchronising call.
    std::uint64_t copy_calls_ns = 0;  ///< Idle, host in a copy call. Here and below: without what comes after a wait.
    std::uint64_t launch_ns = 0;      ///< Idle, host in a launch call, or the latency of a launch.
    std::uint64_t host_ns = 0;        ///< Idle, host in another call or outside CUDA.
    std::uint64_t queued_ns = 0;      ///< Idle, launched and waiting.
    std::uint64_t not_known_ns = 0;   ///< Idle, launch not known or not recorded.
    std::uint64_t latency_ns = 0;     ///< Of launch_ns, latency of what was launched already.
    std::uint64_t outside_ns = 0;     ///< Of host_ns, outside CUDA.
    std::uint64_t loading_ns = 0;     ///< Of host_ns, in calls that load code or make a context: paid once.
    std::uint64_t longest_gap_ns = 0;
    std::uint64_t wall_ns = 0;  ///< Of the recording, once for each device.
    std::uint64_t kernels = 0;  ///< How many.
    std::string call;           ///< Where most of the time that decided was spent, if in calls.

    [[nodiscard]] std::uint64_t idle_ns() const { return span_ns - kernels_ns - copies_ns; }
};

/// One for each device that Idle has.
std::vector<Verdict> verdicts(const Model& model, const Idle& idle);
/// Of all devices together.
Verdict verdict(const Model& model, const Idle& idle);
Verdict verdict(const Model& model, const Timeline& timeline);

/// "launch-bound", ...
const char* bound_text(Bound bound);

}  // namespace gpuspy::analysis

// How long kernels take from their launch on: in the call, in the queue, on the device; and how much is in the queue.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/duration_stats.hpp"
#include "analysis/passes/step_series.hpp"

namespace gpuspy::analysis {

/// Kernels of one name, launched by one thread with one API on one device (cuda_kern_exec_sum's rows). A graph's launch is
/// one launch: it counts for the kernel of it that began first.
struct KernelLatency {
    std::uint32_t tid = 0;
    std::uint64_t device = 0;
    std::string call;            ///< The outermost launching call.
    std::string mangled;         ///< The kernel.
    std::uint64_t count = 0;     ///< Device records.
    std::uint64_t launches = 0;  ///< Below count for graphs alone.
    std::uint64_t queued = 0;    ///< Launches whose kernel began after their call returned: queue is of these.
    std::uint64_t early = 0;     ///< Launches whose kernel began before.
    DurationStats total;         ///< From the call's begin to the kernel's end.
    DurationStats api;           ///< In the call.
    DurationStats queue;         ///< From the call's end to the kernel's begin.
    DurationStats kernel;        ///< On the device.
};

struct Latencies {
    std::vector<KernelLatency> kernels;  ///< Most total time first.
    std::uint64_t without_launch = 0;    ///< Kernels whose launch is not known.
    std::uint64_t untimed = 0;           ///< Kernels without a usable time: in count, and in nothing else but api.
};

Latencies latencies(const Model& model, const Timeline& timeline);

/// What was given to a device, in steps: kernels, copies and sets whose call is known. An activity is given when the outermost
/// launching call around its launch returned (docs/metrics.md, latency), or when it began if that was earlier.
struct QueueSteps {
    std::vector<Step> waiting;     ///< Given and not begun.
    std::vector<Step> unfinished;  ///< Given and not ended.
};

/// By device's ordinal, in no order of time. Empty where the device's clock is not known.
std::map<std::uint64_t, QueueSteps> queue_steps(const Model& model, const Timeline& timeline);

/// The same as series.
struct QueueDepth {
    std::uint64_t device = 0;
    StepSeries waiting, unfinished;
};

std::vector<QueueDepth> queue_depths(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis

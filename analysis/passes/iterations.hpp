// Iterations, found from the sequence of launches that repeats: a training step, an inference, a decoded token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/model/selection.hpp"

namespace gpuspy::analysis {

enum class IterationKind : std::uint8_t { kWarmUp, kSteady, kOutlier };

struct Iteration {
    IterationKind kind = IterationKind::kSteady;
    /// Host: from its first launch to the next one's; of the last, to its last call.
    std::int64_t begin_ns = 0, end_ns = 0;
    /// Device: from where the first of its records begins to where the next one's does; of the last, to where its last ends.
    /// Both 0 where that is not known.
    std::int64_t device_begin_ns = 0, device_end_ns = 0;
    std::uint64_t launches = 0;  ///< Graph launches count once.
    std::uint64_t kernels = 0;   ///< Device records of its launches.
    std::uint64_t gpu_ns = 0;    ///< Sum over the device records of its calls.
    std::uint64_t busy_ns = 0;   ///< Union of the same, over devices summed.
    std::uint64_t sync_ns = 0;   ///< Outermost blocking calls that begin in it, a union per thread, summed.
    bool regular = true;         ///< Its launches are those of most iterations.

    [[nodiscard]] bool on_device() const { return device_end_ns > device_begin_ns; }
    [[nodiscard]] std::uint64_t host_ns() const { return static_cast<std::uint64_t>(end_ns - begin_ns); }
    /// On the device where that is known: a host that runs ahead of the device says little of how long an iteration takes.
    [[nodiscard]] std::uint64_t duration_ns() const {
        return on_device() ? static_cast<std::uint64_t>(device_end_ns - device_begin_ns) : host_ns();
    }
};

struct Iterations {
    bool found = false;
    std::size_t launches = 0;     ///< In the period.
    double agreement = 0;         ///< Period::agreement.
    std::uint64_t median_ns = 0;  ///< Of those that are not warm-up.
    std::vector<Iteration> rows;

    /// From the first to the last iteration that is not warm-up, on the device where that is known; both 0 without any.
    [[nodiscard]] std::int64_t steady_begin_ns() const;
    [[nodiscard]] std::int64_t steady_end_ns() const;
    /// The same part of a timeline: what ran on devices by these moments, calls by those of the host. nullopt without any.
    [[nodiscard]] std::optional<Selection> steady(const Timeline& timeline) const;
};

/// Launches of all threads in the order in which they began, by the kernel or graph that they launch. Captured and failed
/// launches are left out. An iteration begins after the longest pause of the host between launches.
///
/// Warm-up: the first iterations, up to the first that takes no longer than the median of the later half by more than
/// 10 % or 3 sigma (1.4826 median absolute deviations, of the later half), whichever is more. Outlier: a later one that is
/// longer by more than 10 % and 5 sigma.
Iterations iterations(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis

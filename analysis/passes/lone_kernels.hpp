// Kernels that ran alone on their device, and whether their grids could fill it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

/// A block runs on one SM: a grid of fewer blocks than the device has SMs leaves SMs idle, whatever its blocks need. The
/// reverse does not hold: with enough blocks a kernel is SM-limited if they are as many as the device can hold of them at once (a
/// wave; occupancy.hpp): until the last wave nothing else finds room.
struct LoneTime {
    std::uint64_t alone_ns = 0;         ///< Nothing else was in flight on the device.
    std::uint64_t fewer_blocks_ns = 0;  ///< Of that: fewer blocks than SMs.
    std::uint64_t enough_blocks_ns = 0;
    std::uint64_t not_known_ns = 0;     ///< The grid or the number of SMs is not recorded.
    std::uint64_t fills_ns = 0;         ///< At least a wave: SM-limited.
    std::uint64_t room_ns = 0;          ///< Less: others could run beside it. What neither holds is not known.
    std::optional<double> share_fills;  ///< Of these two.
    /// Mean over the time that is known of 1 - blocks / SMs, 0 with enough blocks: a lower bound of idle SMs.
    std::optional<double> idle_sms;
    std::optional<double> share_fewer_blocks;  ///< Of the time that is known.
};

struct LoneKernel {
    std::string mangled;
    std::uint64_t least_blocks = 0, most_blocks = 0;  ///< Of the launches with fewer blocks than SMs.
    std::uint64_t fewer_blocks_ns = 0;                ///< What they ran alone.
    double idle_sms = 0;                              ///< Mean over that time of 1 - blocks / SMs.
};

struct LoneKernels {
    std::uint64_t ordinal = 0;
    std::optional<std::uint64_t> sm_count;
    LoneTime time;
    std::vector<LoneKernel> small_grids;  ///< Kernels with time in fewer blocks than SMs, most of it first.
};

/// Devices with an activity, by ordinal. Cut to the timeline's range.
std::vector<LoneKernels> lone_kernels(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis

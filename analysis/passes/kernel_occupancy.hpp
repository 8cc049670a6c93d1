// Theoretical occupancy of the kernels that ran, and whether their grids could fill the device, weighted by their time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/occupancy.hpp"

namespace gpuspy::analysis {

/// Time of kernels, alone or not, by how their grids compare with what the device can hold at once: a wave, which is SMs x
/// blocks resident on one. The first three and `not_known_ns` add up to `kernel_ns`.
struct FillingTime {
    std::uint64_t kernel_ns = 0;        ///< Sum of durations.
    std::uint64_t fills_ns = 0;         ///< At least one wave.
    std::uint64_t under_wave_ns = 0;    ///< Less than a wave, but a block for every SM.
    std::uint64_t fewer_blocks_ns = 0;  ///< Fewer blocks than SMs.
    std::uint64_t not_known_ns = 0;     ///< A size of the kernel, or a limit of the device, is not known.
    std::optional<double> occupancy;    ///< Mean of the theoretical one, over the time that is known.
    std::optional<double> waves;        ///< Mean of blocks / wave.
    std::optional<double> share_fills;  ///< Of the time that is known.
};

struct KernelOccupancy {
    std::string mangled;
    std::uint64_t launches = 0;  ///< Records with a usable time in the range.
    FillingTime time;
    std::uint64_t least_blocks_per_sm = 0, most_blocks_per_sm = 0;  ///< 0: not known.
    std::optional<OccupancyLimit> limit;                            ///< What ends first, for most of the time.
};

struct DeviceOccupancy {
    std::uint64_t ordinal = 0;
    std::optional<std::uint64_t> sm_count;
    bool limits_known = false;             ///< Of its compute capability.
    std::string capability;                ///< "9.0"; empty: the trace does not say.
    FillingTime time;                      ///< Of all its kernels.
    std::vector<KernelOccupancy> kernels;  ///< Longest first.
};

/// Devices with a kernel, by ordinal. Cut to the timeline's range.
std::vector<DeviceOccupancy> kernel_occupancy(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis

// GPU time, GPU busy, concurrency, utilisation: per device and over all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

struct DeviceTime {
    std::uint64_t ordinal = 0;
    std::string name;           ///< Empty if the trace does not say.
    std::uint64_t time_ns = 0;  ///< Sum over kernels, copies and sets.
    std::uint64_t kernel_ns = 0, copy_ns = 0, set_ns = 0;
    std::uint64_t busy_ns = 0;  ///< Union of the same.
    double concurrency = 0;     ///< time_ns / busy_ns; 0 when never busy.
    double utilisation = 0;     ///< busy_ns / wall.
    std::uint64_t kernels = 0, copies = 0, sets = 0;
    std::uint64_t untimed = 0;  ///< Records without a usable time.
};

struct GpuTime {
    std::vector<DeviceTime> devices;  ///< Those that the trace names or that did something.
    DeviceTime all;                   ///< Sums over devices; utilisation: the mean over the devices that did something.
};

GpuTime gpu_time(const Model& model);

}  // namespace gpuspy::analysis

// How many blocks of a kernel an SM can hold at once, and whether a grid has enough of them to fill the device. Theoretical: from
// what a block needs and what an SM has, not from what ran.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/reader/records.hpp"

namespace gpuspy::analysis {

/// What an SM has.
struct SmLimits {
    std::uint64_t warps = 0, blocks = 0;
    std::uint64_t registers = 0;               ///< 32 bits each.
    std::uint64_t shared_bytes = 0;            ///< With the largest share of the L1 cache that it can be given.
    std::uint64_t reserved_shared_bytes = 0;   ///< Of each block, taken by the system.
    std::uint64_t shared_granule_bytes = 128;  ///< In steps of which a block gets shared memory.
};

/// By the device's compute capability; nullptr: not known.
const SmLimits* sm_limits_of(const DeviceRecord& device);

/// What ends first.
enum class OccupancyLimit : std::uint8_t { kWarps, kBlocks, kRegisters, kSharedMemory };
std::string_view name_of(OccupancyLimit limit);

struct Occupancy {
    std::uint64_t blocks_per_sm = 0;
    double share = 0;  ///< Warps of these blocks / warps that an SM can hold.
    OccupancyLimit limit = OccupancyLimit::kWarps;
};

/// nullopt where the record does not say what a block needs (no threads, no registers), or where not one block fits, which
/// cannot be of a kernel that ran. An upper bound where the SM gave more memory to its cache, and of kernels with clusters.
std::optional<Occupancy> occupancy_of(const SmLimits& limits, const ActivityRecord& kernel);

/// Blocks of the grid; nullopt: a grid without a size. What does not fit 64 bits is as many as fit.
std::optional<std::uint64_t> blocks_of(const ActivityRecord& kernel);

/// Blocks of the grid / as many as `sm_count` SMs hold of such blocks at once.
double waves_of(std::uint64_t blocks, std::uint64_t sm_count, const Occupancy& occupancy);

}  // namespace gpuspy::analysis

#include "analysis/passes/occupancy.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

namespace gpuspy::analysis {
namespace {

struct Capability {
    std::uint64_t major, minor;
    SmLimits limits;
};

constexpr std::uint64_t kKib = 1024;
// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; of 10.3 on and for the granules cuda_occupancy.h
// (CUDA 13.0), with which tests compare.
// clang-format off
constexpr Capability kCapabilities[] = {
    //        warps blocks registers  shared   reserved  granule
    {7,  0, {   64,   32,   65536,  96 * kKib,    0,     256}},
    {7,  2, {   64,   32,   65536,  96 * kKib,    0,     256}},
    {7,  5, {   32,   16,   65536,  64 * kKib,    0,     256}},
    {8,  0, {   64,   32,   65536, 164 * kKib, kKib,     128}},
    {8,  6, {   48,   16,   65536, 100 * kKib, kKib,     128}},
    {8,  7, {   48,   16,   65536, 164 * kKib, kKib,     128}},
    {8,  9, {   48,   24,   65536, 100 * kKib, kKib,     128}},
    {9,  0, {   64,   32,   65536, 228 * kKib, kKib,     128}},
    {10, 0, {   64,   32,   65536, 228 * kKib, kKib,     128}},
    {10, 3, {   64,   32,   65536, 228 * kKib, kKib,     128}},
    {11, 0, {   48,   24,   65536, 228 * kKib, kKib,     128}},
    {12, 0, {   48,   24,   65536, 100 * kKib, kKib,     128}},
    {12, 1, {   48,   24,   65536, 100 * kKib, kKib,     128}},
};
// clang-format on

constexpr std::uint64_t kWarpThreads = 32;
constexpr std::uint64_t kWarpRegisterGranule = 256;
constexpr std::uint64_t kPartitions = 4;  // An SM's registers lie in parts; a warp has all its registers in one.

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
    return value / by + (value % by == 0 ? 0 : 1);
}

/// Of three sizes; what does not fit 64 bits is as many as fit.
std::uint64_t product(const std::array<std::uint32_t, 3>& sizes) {
    std::uint64_t result = std::uint64_t{sizes[0]} * sizes[1];
    return __builtin_mul_overflow(result, std::uint64_t{sizes[2]}, &result) ? std::numeric_limits<std::uint64_t>::max()
                                                                            : result;
}

}  // namespace

const SmLimits* sm_limits_of(const DeviceRecord& device) {
    const auto found = std::find_if(
        std::begin(kCapabilities), std::end(kCapabilities),
        [&device](const Capability& row) { return row.major == device.cc_major && row.minor == device.cc_minor; });
    return found == std::end(kCapabilities) ? nullptr : &found->limits;
}

std::string_view name_of(OccupancyLimit limit) {
    switch (limit) {
        case OccupancyLimit::kWarps:
            return "warps";
        case OccupancyLimit::kBlocks:
            return "blocks";
        case OccupancyLimit::kRegisters:
            return "registers";
        case OccupancyLimit::kSharedMemory:
            return "shared memory";
    }
    return "";
}

std::optional<Occupancy> occupancy_of(const SmLimits& limits, const ActivityRecord& kernel) {
    const std::uint64_t threads = product(kernel.block);
    if (threads == 0 || kernel.registers == 0) {
        return std::nullopt;
    }
    const std::uint64_t warps = divide_up(threads, kWarpThreads);
    const std::uint64_t warp_registers =
        divide_up(kernel.registers * kWarpThreads, kWarpRegisterGranule) * kWarpRegisterGranule;
    const std::uint64_t warps_by_registers = limits.registers / kPartitions / warp_registers * kPartitions;
    const std::uint64_t shared_bytes = divide_up(std::uint64_t{kernel.static_shared_bytes} +
                                                     kernel.dynamic_shared_bytes + limits.reserved_shared_bytes,
                                                 limits.shared_granule_bytes) *
                                       limits.shared_granule_bytes;

    Occupancy occupancy{.blocks_per_sm = limits.warps / warps, .limit = OccupancyLimit::kWarps};
    const auto at_most = [&occupancy](std::uint64_t blocks, OccupancyLimit limit) {
        if (blocks < occupancy.blocks_per_sm) {
            occupancy.blocks_per_sm = blocks;
            occupancy.limit = limit;
        }
    };
    at_most(limits.blocks, OccupancyLimit::kBlocks);
    at_most(warps_by_registers / warps, OccupancyLimit::kRegisters);
    if (shared_bytes != 0) {
        at_most(limits.shared_bytes / shared_bytes, OccupancyLimit::kSharedMemory);
    }
    if (occupancy.blocks_per_sm == 0) {
        return std::nullopt;
    }
    occupancy.share = static_cast<double>(occupancy.blocks_per_sm * warps) / static_cast<double>(limits.warps);
    return occupancy;
}

std::optional<std::uint64_t> blocks_of(const ActivityRecord& kernel) {
    const std::uint64_t blocks = product(kernel.grid);
    return blocks == 0 ? std::nullopt : std::optional(blocks);
}

double waves_of(std::uint64_t blocks, std::uint64_t sm_count, const Occupancy& occupancy) {
    return static_cast<double>(blocks) / (static_cast<double>(sm_count) * static_cast<double>(occupancy.blocks_per_sm));
}

}  // namespace gpuspy::analysis

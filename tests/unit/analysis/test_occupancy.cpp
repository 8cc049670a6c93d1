// Theoretical occupancy: against the vendor's published example, its own calculation (cuda_occupancy.h), and by hand.
#include <cuda_occupancy.h>
#include <catch2/catch.hpp>

#include <climits>
#include <random>

#include "analysis/passes/kernel_occupancy.hpp"
#include "analysis/passes/lone_kernels.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::ActivityRecord;
using analysis::DeviceRecord;
using analysis::Occupancy;
using analysis::OccupancyLimit;

namespace {

DeviceRecord device_of(std::uint64_t major, std::uint64_t minor) {
    DeviceRecord device;
    device.cc_major = major;
    device.cc_minor = minor;
    return device;
}

ActivityRecord kernel_of(std::uint32_t threads, std::uint32_t registers, std::uint32_t static_bytes = 0,
                         std::uint32_t dynamic_bytes = 0) {
    ActivityRecord kernel;
    kernel.grid = {1, 1, 1};
    kernel.block = {threads, 1, 1};
    kernel.registers = registers;
    kernel.static_shared_bytes = static_bytes;
    kernel.dynamic_shared_bytes = dynamic_bytes;
    return kernel;
}

Occupancy occupancy(std::uint64_t major, std::uint64_t minor, const ActivityRecord& kernel) {
    const analysis::SmLimits* const limits = analysis::sm_limits_of(device_of(major, minor));
    REQUIRE(limits != nullptr);
    const auto result = analysis::occupancy_of(*limits, kernel);
    REQUIRE(result.has_value());
    return *result;
}

/// A device's properties as the CUDA programming guide lists them: what the driver would say of it.
struct Properties {
    int major, minor, threads_per_sm;
    std::size_t shared_per_sm, shared_per_block, reserved;
};
constexpr Properties kDevices[] = {
    {7, 0, 2048, 98304, 98304, 0},      {7, 5, 1024, 65536, 65536, 0},       {8, 0, 2048, 167936, 166912, 1024},
    {8, 6, 1536, 102400, 101376, 1024}, {8, 7, 1536, 167936, 166912, 1024},  {8, 9, 1536, 102400, 101376, 1024},
    {9, 0, 2048, 233472, 232448, 1024}, {10, 0, 2048, 233472, 232448, 1024}, {12, 0, 1536, 102400, 101376, 1024},
};

int blocks_by_vendor(const Properties& of, const ActivityRecord& kernel) {
    cudaOccDeviceProp device;
    device.computeMajor = of.major;
    device.computeMinor = of.minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = of.threads_per_sm;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 49152;
    device.sharedMemPerMultiprocessor = of.shared_per_sm;
    device.numSms = 100;
    device.sharedMemPerBlockOptin = of.shared_per_block;
    device.reservedSharedMemPerBlock = of.reserved;
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = INT_MAX;
    function.numRegs = static_cast<int>(kernel.registers);
    function.sharedSizeBytes = kernel.static_shared_bytes;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = kernel.dynamic_shared_bytes;
    function.numBlockBarriers = 1;
    const cudaOccDeviceState state;
    cudaOccResult result{};
    REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state,
                                                    static_cast<int>(kernel.block[0]),
                                                    kernel.dynamic_shared_bytes) == CUDA_OCC_SUCCESS);
    return result.activeBlocksPerMultiprocessor;
}

}  // namespace

TEST_CASE("occupancy: the example of the CUDA best practices guide, 37 registers on compute capability 7.0",
          "[occupancy]") {
    const Occupancy small = occupancy(7, 0, kernel_of(128, 37));
    CHECK(small.blocks_per_sm == 12);
    CHECK(small.share == Approx(0.75));
    CHECK(small.limit == OccupancyLimit::kRegisters);
    const Occupancy large = occupancy(7, 0, kernel_of(320, 37));
    CHECK(large.blocks_per_sm == 4);
    CHECK(large.share == Approx(40.0 / 64));
    CHECK(occupancy(7, 0, kernel_of(128, 32)).share == 1);  // At most 32 registers for a full SM.
}

TEST_CASE("occupancy on an H200: each of the four limits, by hand", "[occupancy]") {
    const Occupancy warps = occupancy(9, 0, kernel_of(1024, 32));
    CHECK(warps.blocks_per_sm == 2);
    CHECK(warps.share == 1);
    CHECK(warps.limit == OccupancyLimit::kWarps);
    const Occupancy blocks = occupancy(9, 0, kernel_of(32, 16));
    CHECK(blocks.blocks_per_sm == 32);
    CHECK(blocks.share == 0.5);
    CHECK(blocks.limit == OccupancyLimit::kBlocks);
    // 168 registers: 5,376 a warp; 3 of them in each of the four parts of 16,384; 384 threads are 12 warps.
    const Occupancy registers = occupancy(9, 0, kernel_of(384, 168));
    CHECK(registers.blocks_per_sm == 1);
    CHECK(registers.share == Approx(12.0 / 64));
    CHECK(registers.limit == OccupancyLimit::kRegisters);
    // A matrix multiplication's 3 stages: 100 KB and the system's 1 KB; 228 KB hold two such blocks.
    const Occupancy shared = occupancy(9, 0, kernel_of(128, 64, 0, 100 * 1024));
    CHECK(shared.blocks_per_sm == 2);
    CHECK(shared.share == Approx(8.0 / 64));
    CHECK(shared.limit == OccupancyLimit::kSharedMemory);
    CHECK(occupancy(9, 0, kernel_of(128, 64, 40 * 1024, 73 * 1024)).blocks_per_sm == 2);  // 114 KB twice: just
    CHECK(occupancy(9, 0, kernel_of(128, 64, 40 * 1024, 73 * 1024 + 1)).blocks_per_sm == 1);
}

TEST_CASE("occupancy agrees with the vendor's calculation for any kernel", "[occupancy]") {
    std::mt19937 engine(9);
    const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
    std::size_t fitting = 0;
    for (const Properties& of : kDevices) {
        const analysis::SmLimits* const limits = analysis::sm_limits_of(
            device_of(static_cast<std::uint64_t>(of.major), static_cast<std::uint64_t>(of.minor)));
        REQUIRE(limits != nullptr);
        for (int i = 0; i < 2000; ++i) {
            const std::uint32_t threads = 1 + random() % 1024, registers = 1 + random() % 255;
            const std::uint32_t static_bytes = random() % 3 == 0 ? random() % 49152 : 0;
            const std::uint32_t room = static_cast<std::uint32_t>(of.shared_per_block) - static_bytes;
            const ActivityRecord kernel =
                kernel_of(threads, registers, static_bytes, random() % 2 == 0 ? random() % room : 0);
            const int expected = blocks_by_vendor(of, kernel);
            const auto result = analysis::occupancy_of(*limits, kernel);
            CAPTURE(of.major, of.minor, threads, registers, static_bytes, kernel.dynamic_shared_bytes);
            REQUIRE(result.has_value() == (expected != 0));
            if (expected == 0) continue;
            CHECK(result->blocks_per_sm == static_cast<std::uint64_t>(expected));
            ++fitting;
        }
    }
    CHECK(fitting > 9 * 1000);
}

TEST_CASE("occupancy is not known of an unknown architecture, and of a record without sizes", "[occupancy]") {
    CHECK(analysis::sm_limits_of(device_of(0, 0)) == nullptr);
    CHECK(analysis::sm_limits_of(device_of(42, 0)) == nullptr);
    const analysis::SmLimits& limits = *analysis::sm_limits_of(device_of(9, 0));
    CHECK_FALSE(analysis::occupancy_of(limits, kernel_of(0, 32)).has_value());
    CHECK_FALSE(analysis::occupancy_of(limits, kernel_of(128, 0)).has_value());
    CHECK_FALSE(analysis::occupancy_of(limits, kernel_of(128, 32, 0, 300 * 1024)).has_value());
    ActivityRecord absurd = kernel_of(128, 0xffffffffU);
    absurd.block = {0xffffffffU, 0xffffffffU, 0xffffffffU};
    CHECK_FALSE(analysis::occupancy_of(limits, absurd).has_value());
    CHECK_FALSE(analysis::blocks_of(ActivityRecord{}).has_value());
}

TEST_CASE("kernels by whether their grid fills an H200, weighted by time", "[occupancy]") {
    TraceBuilder trace = begun_trace();
    trace.device(0, "NVIDIA H200");  // 132 SMs of 9.0
    const auto run = [&trace](const char* name, std::uint64_t at, std::uint64_t ns, std::uint32_t blocks,
                              std::uint32_t threads, std::uint32_t registers) {
        trace.activity({.name = name,
                        .start = on_device(kStart + at),
                        .duration = ns,
                        .grid = {blocks, 1, 1},
                        .block = {threads, 1, 1},
                        .registers = registers});
    };
    run("full", 100, 100, 132 * 8, 256, 32);   // 8 blocks of 256 threads: 1 wave, 100 %
    run("full", 300, 100, 132 * 16, 256, 32);  // 2 waves
    run("room", 500, 200, 132 * 4, 256, 64);   // 4 of 64 registers: 50 %, 1 wave
    run("room", 800, 600, 132 * 2, 256, 64);   // half a wave
    run("small", 1500, 500, 33, 1024, 32);     // 2 blocks resident: an eighth of a wave, 100 %
    run("strange", 2100, 500, 132, 1024, 0);   // registers not known
    trace.activity(
        {.tag = abi::Tag::kMemcpy, .start = on_device(kStart + 2700), .duration = 150, .bytes = 64, .copy_kind = 1});
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const auto devices = analysis::kernel_occupancy(*model, *model->timeline);
    REQUIRE(devices.size() == 1);
    const analysis::FillingTime& all = devices[0].time;
    CHECK(devices[0].capability == "9.0");
    CHECK(all.kernel_ns == 2000);
    CHECK(all.fills_ns == 400);
    CHECK(all.under_wave_ns == 600);
    CHECK(all.fewer_blocks_ns == 500);
    CHECK(all.not_known_ns == 500);
    CHECK(all.share_fills == Approx(400.0 / 1500));
    CHECK(all.occupancy == Approx((200 * 1.0 + 800 * 0.5 + 500 * 1.0) / 1500));
    REQUIRE(devices[0].kernels.size() == 4);
    const analysis::KernelOccupancy& room = devices[0].kernels[0];
    CHECK(room.mangled == "room");
    CHECK(room.launches == 2);
    CHECK(room.least_blocks_per_sm == 4);
    CHECK(room.time.waves == Approx((200 * 1.0 + 600 * 0.5) / 800));
    CHECK(room.time.share_fills == Approx(0.25));
    CHECK(room.limit == OccupancyLimit::kRegisters);
    const analysis::KernelOccupancy& small = devices[0].kernels[1];
    CHECK(small.mangled == "small");
    CHECK(small.time.waves == Approx(33.0 / 264));
    const analysis::KernelOccupancy& strange = devices[0].kernels[2];
    CHECK(strange.mangled == "strange");
    CHECK_FALSE(strange.time.occupancy.has_value());
    CHECK_FALSE(strange.limit.has_value());
    CHECK(strange.most_blocks_per_sm == 0);
    CHECK(devices[0].kernels[3].time.waves == Approx(1.5));
    // All of them ran alone.
    const auto alone = analysis::lone_kernels(*model, *model->timeline);
    REQUIRE(alone.size() == 1);
    CHECK(alone[0].time.alone_ns == 2000);
    CHECK(alone[0].time.fills_ns == 400);
    CHECK(alone[0].time.room_ns == 1100);  // Not the strange one, with a block for every SM.
    CHECK(alone[0].time.share_fills == Approx(400.0 / 1500));
}

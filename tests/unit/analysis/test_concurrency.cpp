// What runs at once: the passes behind the view `concurrency`.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "analysis/model/selection.hpp"
#include "analysis/passes/concurrency.hpp"
#include "analysis/passes/idle.hpp"
#include "analysis/passes/lone_kernels.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Concurrency;
using analysis::DeviceConcurrency;

namespace {

constexpr std::uint64_t kWall = 1'000'000;

void add_activities(TraceBuilder& trace) {
    trace.activity({.name = "k1", .start = on_device(kStart + 100), .duration = 300, .stream = 7});
    trace.activity({.name = "k2", .start = on_device(kStart + 200), .duration = 300, .stream = 9, .grid = {20, 10, 1}});
    trace.activity({.tag = abi::Tag::kMemcpy,
                    .start = on_device(kStart + 450),
                    .duration = 150,
                    .stream = 11,
                    .bytes = 64,
                    .copy_kind = 1});
    trace.activity({.name = "k3", .start = on_device(kStart + 700), .duration = 100, .stream = 7});
    trace.activity(
        {.name = "_Z20ncclDevKernel_Reducev", .start = on_device(kStart + 750), .duration = 150, .stream = 13});
    trace.end(kStart + kWall);
}

TraceBuilder four_streams() {
    TraceBuilder trace = begun_trace();
    trace.device(0, "NVIDIA H200");  // 132 SMs
    add_activities(trace);
    return trace;
}

std::map<std::uint64_t, std::uint64_t> levels_of(const DeviceConcurrency& device) {
    std::map<std::uint64_t, std::uint64_t> levels;
    for (const analysis::InFlight& level : device.levels) {
        levels[level.level] = level.time_ns;
    }
    return levels;
}

using Pairs = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;

Pairs pairs_of(const DeviceConcurrency& device) {
    Pairs pairs;
    for (const analysis::StreamPair& pair : device.pairs) {
        pairs[{pair.first, pair.second}] = pair.both_ns;
    }
    return pairs;
}

}  // namespace

TEST_CASE("activities in flight add up to the wall time, and give sum, busy, average and peak", "[concurrency]") {
    TraceBuilder trace = four_streams();
    const auto model = timeline_of(trace);
    const Concurrency result = analysis::concurrency(*model, *model->timeline);
    CHECK(result.wall_known);
    REQUIRE(result.devices.size() == 1);
    const DeviceConcurrency& device = result.devices[0];
    CHECK(device.name == "NVIDIA H200");
    CHECK(levels_of(device) == std::map<std::uint64_t, std::uint64_t>{{0, kWall - 700}, {1, 400}, {2, 300}});
    CHECK(device.busy_ns == 700);
    CHECK(device.sum_ns == 1000);
    CHECK(device.average == Approx(1000.0 / 700));
    CHECK(device.peak == 2);
    CHECK(device.levels[2].share_of_wall == Approx(300.0 / kWall));
    CHECK(device.levels[2].share_of_busy == Approx(300.0 / 700));
    CHECK_FALSE(device.levels[0].share_of_busy.has_value());
}

TEST_CASE("streams and pairs of streams that are busy at once", "[concurrency]") {
    TraceBuilder trace = four_streams();
    const auto model = timeline_of(trace);
    const DeviceConcurrency device = analysis::concurrency(*model, *model->timeline).devices.at(0);
    REQUIRE(device.streams.size() == 4);
    CHECK(device.streams[0].stream == 7);
    CHECK(device.streams[0].activities == 2);
    CHECK(device.streams[0].busy_ns == 400);
    CHECK(device.streams[0].share_of_busy == Approx(400.0 / 700));
    CHECK(device.streams[0].share_of_wall == Approx(400.0 / kWall));
    CHECK(device.streams[1].stream == 9);
    CHECK(pairs_of(device) == Pairs{{{7, 9}, 200}, {{7, 13}, 50}, {{9, 11}, 50}});
    CHECK(device.pairs[0].share_of_shorter == Approx(200.0 / 300));
}

TEST_CASE("copies and communication are set apart, and what they hide behind", "[concurrency]") {
    TraceBuilder trace = four_streams();
    const auto model = timeline_of(trace);
    const DeviceConcurrency device = analysis::concurrency(*model, *model->timeline).devices.at(0);
    REQUIRE(device.overlap.size() == 3);
    const analysis::KindOverlap& copies = device.overlap[0];
    CHECK(std::string(copies.kind) == "copies");
    CHECK(copies.kind_ns == 150);
    CHECK(copies.beside_ns == 500);  // k1, k2 and k3, not the communication.
    CHECK(copies.both_ns == 50);
    CHECK(copies.share_hidden == Approx(50.0 / 150));
    CHECK(std::string(device.overlap[1].kind) == "communication");
    CHECK(device.overlap[1].both_ns == 50);
    CHECK(std::string(device.overlap[2].beside) == "copies");
    CHECK(device.overlap[2].both_ns == 0);
    CHECK(device.communication == 1);
    CHECK(device.by_name_alone == 1);
}

TEST_CASE("a kernel that an NCCL call launched is communication, whatever its name", "[concurrency]") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(), .begin = kStart + 20, .end = kStart + 30, .depth = 1, .correlation = 1});
    trace.call({.api = {"ncclAllReduce", "nccl", abi::ApiLevel::kLibrary, abi::ApiClass::kCollective},
                .begin = kStart + 10,
                .end = kStart + 40});
    trace.activity({.name = "reduce", .start = on_device(kStart + 100), .duration = 50, .correlation = 1});
    trace.end(kStart + kWall);
    const auto model = timeline_of(trace);
    const DeviceConcurrency device = analysis::concurrency(*model, *model->timeline).devices.at(0);
    CHECK(device.communication == 1);
    CHECK(device.by_name_alone == 0);
}

TEST_CASE("a range of time cuts what runs beyond it", "[concurrency]") {
    TraceBuilder trace = four_streams();
    const auto model = timeline_of(trace);
    analysis::Selection selection;
    selection.from_ns = 150;
    selection.to_ns = 480;
    const auto part = analysis::select(*model, *model->timeline, selection);
    const DeviceConcurrency device = analysis::concurrency(*model, part).devices.at(0);
    CHECK(levels_of(device) == std::map<std::uint64_t, std::uint64_t>{{1, 100}, {2, 230}});
    CHECK(device.sum_ns == 560);  // 250 of k1, which began before, 280 and 30.
    CHECK(device.streams[0].sum_ns == 280);
}

TEST_CASE("without a relation of the clocks the time without activity is not known", "[concurrency]") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.header.start_monotonic_ns = kStart + kHostOffset;
    trace.block_ticks(kStart + 2'000'000'000);
    trace.anchor(kStart, kStart + kHostOffset);
    trace.span(kStart, abi::SpanKind::kDevice, true);
    add_activities(trace);
    const auto model = timeline_of(trace);
    const Concurrency result = analysis::concurrency(*model, *model->timeline);
    CHECK_FALSE(result.wall_known);
    REQUIRE(result.devices.size() == 1);
    CHECK(levels_of(result.devices[0]) == std::map<std::uint64_t, std::uint64_t>{{1, 400}, {2, 300}});
    CHECK_FALSE(result.devices[0].levels[0].share_of_wall.has_value());
    CHECK_FALSE(result.devices[0].streams[0].share_of_wall.has_value());
    CHECK_FALSE(analysis::idle(*model, *model->timeline).known);
    CHECK(analysis::idle(*model, *model->timeline).devices.empty());
}

TEST_CASE("kernels alone on the device: fewer blocks than SMs leave room", "[concurrency]") {
    TraceBuilder trace = four_streams();
    const auto model = timeline_of(trace);
    const auto devices = analysis::lone_kernels(*model, *model->timeline);
    REQUIRE(devices.size() == 1);
    CHECK(devices[0].sm_count == 132);
    CHECK(devices[0].time.alone_ns == 300);         // k1 100, k2 50, k3 50, the reduction 100; not the copy.
    CHECK(devices[0].time.fewer_blocks_ns == 250);  // All but k2, which has 200 blocks.
    CHECK(devices[0].time.enough_blocks_ns == 50);
    CHECK(devices[0].time.not_known_ns == 0);
    CHECK(devices[0].time.share_fewer_blocks == Approx(250.0 / 300));
    CHECK(devices[0].time.idle_sms == Approx(250.0 * (1 - 2.0 / 132) / 300));
    REQUIRE(devices[0].small_grids.size() == 3);
    CHECK(devices[0].small_grids[0].fewer_blocks_ns == 100);
    CHECK(devices[0].small_grids[2].mangled == "k3");
    CHECK(devices[0].small_grids[2].most_blocks == 2);
    CHECK(devices[0].small_grids[2].idle_sms == Approx(1 - 2.0 / 132));
}

TEST_CASE("without the number of SMs whether grids fill the device is not known", "[concurrency]") {
    TraceBuilder trace = begun_trace();
    add_activities(trace);
    const auto model = timeline_of(trace);
    const auto devices = analysis::lone_kernels(*model, *model->timeline);
    REQUIRE(devices.size() == 1);
    CHECK_FALSE(devices[0].sm_count.has_value());
    CHECK(devices[0].time.alone_ns == 300);
    CHECK(devices[0].time.not_known_ns == 300);
    CHECK_FALSE(devices[0].time.idle_sms.has_value());
    CHECK(devices[0].small_grids.empty());
    CHECK_FALSE(devices[0].time.share_fills.has_value());
}

TEST_CASE("the sweep agrees with counting every ns", "[concurrency][idle]") {
    constexpr std::size_t kSpan = 3000;
    std::mt19937 random(20);
    TraceBuilder trace = begun_trace();
    std::vector<std::map<std::uint64_t, int>> streams(kSpan);  // at each ns: activities by stream
    for (int i = 0; i < 120; ++i) {
        const std::uint64_t start = random() % 2800, duration = 1 + random() % 100, stream = 7 + random() % 6;
        trace.activity({.name = "k", .start = on_device(kStart + start), .duration = duration, .stream = stream});
        for (std::uint64_t at = start; at < start + duration; ++at) {
            ++streams[at][stream];
        }
    }
    trace.end(kStart + kWall);
    std::map<std::uint64_t, std::uint64_t> levels{{0, kWall - kSpan}};
    Pairs pairs;
    std::uint64_t busy_ns = 0;
    for (const auto& active : streams) {
        std::uint64_t level = 0;
        for (auto one = active.begin(); one != active.end(); ++one) {
            level += static_cast<std::uint64_t>(one->second);
            for (auto other = std::next(one); other != active.end(); ++other) {
                ++pairs[{one->first, other->first}];
            }
        }
        ++levels[level];
        busy_ns += level == 0 ? 0 : 1;
    }
    const auto model = timeline_of(trace);
    const DeviceConcurrency device = analysis::concurrency(*model, *model->timeline).devices.at(0);
    CHECK(levels_of(device) == levels);
    CHECK(pairs_of(device) == pairs);
    CHECK(device.peak == levels.rbegin()->first);
    const analysis::DeviceIdle idle = analysis::idle(*model, *model->timeline).devices.at(0);
    CHECK(idle.busy_ns == busy_ns);
    CHECK(idle.idle_ns == levels[0]);
}

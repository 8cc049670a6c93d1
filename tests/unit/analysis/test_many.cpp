// Traces that no ordinary program leaves: very much at once. Each is answered right, and in a time that does not grow with
// the square of it.
#include <catch2/catch.hpp>

#include <algorithm>

#include "analysis/model/first_fit.hpp"
#include "analysis/passes/concurrency.hpp"
#include "analysis/passes/nvtx_ranges.hpp"
#include "analysis/passes/overview.hpp"
#include "analysis/views/view.hpp"
#include "tests/unit/analysis/cpu_seconds.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Timeline;

namespace {

/// A model of a thread and an API, for timelines that are made by hand.
std::unique_ptr<analysis::Model> small_model() {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(), .begin = kStart + 10, .end = kStart + 20, .correlation = 1});
    trace.activity({.name = "k", .start = on_device(kStart + 30), .duration = 10, .correlation = 1});
    trace.range({.kind = abi::RangeKind::kMark, .ticks = kStart + 40, .name = "mark"});
    return timeline_of(trace);
}

/// `count` copies of the model's activity, which `place` sets.
template <class Place>
Timeline activities(const analysis::Model& model, std::size_t count, const Place& place) {
    Timeline timeline;
    timeline.device_clock_known = true;
    timeline.end_ns = 1'000'000'000;
    analysis::DeviceActivity one = model.timeline->activities.front();
    one.call = analysis::kNone;
    timeline.activities.assign(count, one);
    for (std::size_t at = 0; at < count; ++at) {
        analysis::DeviceActivity& activity = timeline.activities[at];
        place(at, activity);
        activity.record.start_ns = static_cast<std::uint64_t>(activity.begin_ns);
        activity.record.duration_ns = static_cast<std::uint64_t>(activity.end_ns - activity.begin_ns);
    }
    return timeline;
}

}  // namespace

TEST_CASE("first fit: the first row with room, and a new one where there is none") {
    analysis::FirstFit rows;
    CHECK(rows.first_at_most(0) == 0);
    rows.set(0, 10);
    CHECK(rows.first_at_most(9) == 1);
    rows.set(1, 5);
    rows.set(2, 7);
    CHECK(rows.first_at_most(4) == 3);
    CHECK(rows.first_at_most(5) == 1);
    CHECK(rows.first_at_most(7) == 1);
    rows.set(1, 20);
    CHECK(rows.first_at_most(9) == 2);
    CHECK(rows.first_at_most(10) == 0);
    for (std::size_t row = 3; row < 100; ++row) {
        CHECK(rows.first_at_most(6) == row);
        rows.set(row, 50);
    }
    CHECK(rows.first_at_most(60) == 0);
}

TEST_CASE("many NVTX ranges are open around many launches") {
    constexpr std::uint32_t kCount = 200'000;
    const auto model = small_model();
    Timeline timeline;
    timeline.end_ns = 10 * kCount;
    const analysis::HostCall launch = model->timeline->calls.front();
    const analysis::HostRange range = model->timeline->ranges.front();
    REQUIRE(launch.is_launch);
    for (std::uint32_t at = 0; at < kCount; ++at) {
        // Each range is open from its begin to the end, and a launch begins in it before the next range does.
        timeline.ranges.push_back(range);
        timeline.ranges.back().kind = at % 2 == 0 ? analysis::Range::Kind::kPushPop : analysis::Range::Kind::kStartEnd;
        timeline.ranges.back().begin_ns = 10 * std::int64_t{at};
        timeline.ranges.back().end_ns = timeline.end_ns;
        timeline.calls.push_back(launch);
        timeline.calls.back().begin_ns = 10 * std::int64_t{at} + 5;
        timeline.calls.back().end_ns = 10 * std::int64_t{at} + 6;
    }
    std::vector<analysis::RangeRow> rows;
    CHECK(cpu_seconds([&] { rows = analysis::range_table(*model, timeline); }) < kNotQuadraticS);
    REQUIRE(rows.size() == 2);
    // Range i holds kCount - i launches.
    constexpr std::uint64_t kAll = std::uint64_t{kCount} * (kCount + 1) / 2;
    CHECK(rows[0].launches + rows[1].launches == kAll);
    CHECK(rows[0].launches - rows[1].launches == kCount / 2);
    CHECK(rows[0].count == kCount / 2);
}

TEST_CASE("much runs at once on one stream: the overview has a row for each") {
    constexpr std::size_t kCount = 200'000;
    const auto model = small_model();
    const Timeline timeline = activities(*model, kCount, [](std::size_t at, auto& activity) {
        activity.begin_ns = static_cast<std::int64_t>(at);
        activity.end_ns = static_cast<std::int64_t>(at + kCount);
    });
    analysis::Overview overview;
    CHECK(cpu_seconds([&] { overview = analysis::overview(*model, timeline); }) < kNotQuadraticS);
    REQUIRE(overview.lanes.size() == kCount);
    CHECK(overview.lanes.back().row == kCount - 1);
    CHECK(overview.lanes.back().blocks.front().begin_ns == kCount - 1);
}

TEST_CASE("thousands of streams: pairs among those with most time, the others are counted") {
    constexpr std::uint64_t kStreams = 4'000;
    constexpr std::size_t kRounds = 50;
    const auto model = small_model();
    // In each round every stream runs once, all overlapping; the higher its number, the longer.
    const Timeline timeline = activities(*model, kStreams * kRounds, [](std::size_t at, auto& activity) {
        const std::uint64_t stream = at % kStreams;
        activity.record.stream = stream;
        activity.begin_ns = static_cast<std::int64_t>(at / kStreams * 10'000);
        activity.end_ns = activity.begin_ns + static_cast<std::int64_t>(1 + stream);
    });
    analysis::Concurrency result;
    CHECK(cpu_seconds([&] { result = analysis::concurrency(*model, timeline); }) < kNotQuadraticS);
    REQUIRE(result.devices.size() == 1);
    const analysis::DeviceConcurrency& device = result.devices.front();
    CHECK(device.streams.size() == kStreams);
    CHECK(device.peak == kStreams);
    CHECK(device.not_paired == kStreams - analysis::kPairedStreams);
    REQUIRE(device.pairs.size() == analysis::kPairedStreams * (analysis::kPairedStreams - 1) / 2);
    CHECK(device.pairs.front().first == kStreams - 2);
    CHECK(device.pairs.front().second == kStreams - 1);
    CHECK(device.pairs.front().both_ns == kRounds * (kStreams - 1));
    const auto tables = analysis::concurrency_view({*model, timeline, {}});
    const auto pairs =
        std::find_if(tables.begin(), tables.end(), [](const auto& table) { return table.name == "pairs"; });
    CHECK(pairs->notes ==
          std::vector<std::string>{"GPU 0: of the 64 streams with most time; 3936 others were not looked at"});
}

TEST_CASE("a correlation id that comes again and again: each copy has the call before it") {
    constexpr std::uint64_t kCount = 200'000;
    TraceBuilder trace = begun_trace();
    const Api copy = {"cuMemcpyHtoDAsync_v2", "driver", abi::ApiLevel::kDriver, abi::ApiClass::kCopy};
    for (std::uint64_t at = 0; at < kCount; ++at) {
        trace.call({.api = copy, .begin = kStart + 10 * at, .end = kStart + 10 * at + 2, .correlation = 7});
        trace.activity({.tag = abi::Tag::kMemcpy,
                        .start = on_device(kStart + 10 * at + 4),
                        .duration = 3,
                        .correlation = 7,
                        .bytes = 4,
                        .copy_kind = 1});
    }
    trace.end(kStart + 10 * kCount);
    std::unique_ptr<analysis::Model> model;
    CHECK(cpu_seconds([&] { model = timeline_of(trace); }) < kNotQuadraticS);
    REQUIRE(model->timeline->activities.size() == kCount);
    std::size_t right = 0;
    for (const analysis::DeviceActivity& activity : model->timeline->activities) {
        right +=
            activity.call != analysis::kNone && model->timeline->calls[activity.call].begin_ns == activity.begin_ns - 4;
    }
    CHECK(right == kCount);
}

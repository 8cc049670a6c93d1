// The picture of the timeline: bounded, and with every activity and call in it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "analysis/model/selection.hpp"
#include "analysis/passes/overview.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Overview;
using analysis::OverviewBlock;
using analysis::OverviewCategory;
using analysis::OverviewLane;

namespace {

/// Two streams, of which one has overlapping kernels, and a thread. Wall time: 1 ms.
TraceBuilder two_streams() {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(), .begin = kStart + 110, .end = kStart + 140, .depth = 1, .correlation = 1});
    trace.call({.api = cudnn("cudnnConvolutionForward"), .begin = kStart + 100, .end = kStart + 200, .caller = 0x1100});
    trace.call(
        {.api = driver_launch(), .begin = kStart + 300, .end = kStart + 320, .correlation = 2, .caller = 0x5100});
    trace.call({.api = device_sync(), .begin = kStart + 400, .end = kStart + 900, .caller = 0x5100});
    trace.activity({.name = "conv", .start = on_device(kStart + 500), .duration = 100, .correlation = 1});
    trace.activity({.name = "own", .start = on_device(kStart + 550), .duration = 20, .correlation = 2});
    trace.activity({.name = "own", .start = on_device(kStart + 700), .duration = 30, .correlation = 2});
    trace.activity({.tag = abi::Tag::kMemcpy,
                    .start = on_device(kStart + 600),
                    .duration = 40,
                    .stream = 9,
                    .bytes = 64,
                    .copy_kind = 1});
    trace.end(kStart + 1'000'000);
    return trace;
}

/// `kernels` kernels of `duration` ns each, one every `period` ns, from 1 us after the start on.
TraceBuilder many_kernels(std::uint64_t kernels, std::uint64_t period, std::uint64_t duration) {
    TraceBuilder trace = begun_trace();
    for (std::uint64_t i = 0; i < kernels; ++i) {
        trace.activity({.name = "k", .start = on_device(kStart + 1'000 + i * period), .duration = duration});
    }
    trace.end(kStart + 1'000'000);
    return trace;
}

const OverviewCategory& category(const Overview& all, const OverviewBlock& block) {
    return all.categories[block.category];
}

const std::string& name(const Overview& all, const OverviewBlock& block) {
    return all.names[block.name].text;
}

std::size_t block_count(const Overview& all) {
    return std::accumulate(all.lanes.begin(), all.lanes.end(), std::size_t{0},
                           [](std::size_t sum, const OverviewLane& lane) { return sum + lane.blocks.size(); });
}

}  // namespace

TEST_CASE("overview: what fits stands as it was, streams above threads") {
    TraceBuilder trace = two_streams();
    const auto model = timeline_of(trace);
    const Overview all = analysis::overview(*model, *model->timeline);
    CHECK(all.pixel_ns == 0);
    CHECK(all.wall_ns == 1'000'000);
    CHECK(all.unplaced == 0);
    REQUIRE(all.lanes.size() == 4);

    const OverviewLane& stream = all.lanes[0];
    CHECK_FALSE(stream.host);
    CHECK(stream.stream == 7);
    CHECK(stream.row == 0);
    CHECK(stream.count == 2);
    CHECK(stream.time_ns == 130);
    REQUIRE(stream.blocks.size() == 2);
    CHECK(stream.blocks[0].begin_ns == 500);
    CHECK(stream.blocks[0].length_ns == 100);
    CHECK(stream.blocks[0].time_ns == 100);
    CHECK(stream.blocks[0].count == 1);
    CHECK(name(all, stream.blocks[0]) == "conv");
    CHECK(all.names[stream.blocks[0].name].kernel);
    CHECK(category(all, stream.blocks[0]) == OverviewCategory{OverviewCategory::Kind::kOwner, "cudnn"});
    CHECK(category(all, stream.blocks[1]).name == "unknown");  // The launch has its record already.

    const OverviewLane& below = all.lanes[1];  // The kernel that ran at the same time.
    CHECK(below.stream == 7);
    CHECK(below.row == 1);
    CHECK(below.count == 1);
    CHECK(below.time_ns == 20);
    CHECK(category(all, below.blocks.at(0)).name == "app");

    const OverviewLane& copies = all.lanes[2];
    CHECK(copies.stream == 9);
    REQUIRE(copies.blocks.size() == 1);
    CHECK(category(all, copies.blocks[0]) == OverviewCategory{OverviewCategory::Kind::kCopy, "HtoD"});
    CHECK_FALSE(all.names[copies.blocks[0].name].kernel);

    const OverviewLane& thread = all.lanes[3];
    CHECK(thread.host);
    CHECK(thread.tid == 100);
    CHECK(thread.count == 3);  // Outermost ones.
    CHECK(thread.time_ns == 100 + 20 + 500);
    REQUIRE(thread.blocks.size() == 3);
    CHECK(name(all, thread.blocks[0]) == "cudnnConvolutionForward");
    CHECK(thread.blocks[0].category == stream.blocks[0].category);
    CHECK(category(all, thread.blocks[1]).kind == OverviewCategory::Kind::kLaunch);
    CHECK(category(all, thread.blocks[2]).kind == OverviewCategory::Kind::kWait);
}

TEST_CASE("overview: what begins in the same pixel is one block, with its time and count") {
    // 100 kernels of 10 ns, one every 100 ns; at most 20 blocks: pixels of 50 us and more.
    TraceBuilder trace = many_kernels(100, 100, 10);
    const auto model = timeline_of(trace);
    const Overview all = analysis::overview(*model, *model->timeline, 20);
    CHECK(all.pixel_ns == 50'000);
    REQUIRE(all.lanes.size() == 1);
    CHECK(all.lanes[0].count == 100);
    CHECK(all.lanes[0].time_ns == 1'000);
    REQUIRE(all.lanes[0].blocks.size() == 1);
    const OverviewBlock& block = all.lanes[0].blocks[0];
    CHECK(block.begin_ns == 1'000);
    CHECK(block.length_ns == 99 * 100 + 10);
    CHECK(block.count == 100);
    CHECK(block.time_ns == 1'000);
}

TEST_CASE("overview: the longest stay what they are; totals are kept at every bound") {
    TraceBuilder trace = many_kernels(500, 1'000, 100);
    trace.activity({.name = "long", .start = on_device(kStart + 600'000), .duration = 300'000});
    const auto model = timeline_of(trace);
    for (const std::size_t bound : {1U, 2U, 10U, 100U, 500U, 501U}) {
        const Overview all = analysis::overview(*model, *model->timeline, bound);
        CAPTURE(bound, all.pixel_ns);
        CHECK(block_count(all) <= bound);
        REQUIRE(all.lanes.size() == 1);
        CHECK((all.pixel_ns == 0) == (bound == 501));
        std::uint64_t count = 0, time_ns = 0;
        for (const OverviewBlock& block : all.lanes[0].blocks) {
            count += block.count;
            time_ns += block.time_ns;
        }
        CHECK(count == 501);
        CHECK(time_ns == 500 * 100 + 300'000);
        const OverviewBlock& last = all.lanes[0].blocks.back();
        CHECK(name(all, last) == "long");
        CHECK((last.count == 1) == (all.pixel_ns <= 300'000));
    }
}

TEST_CASE("overview: a block of several has the name of the longest and the category with most time") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = cudnn("cudnnA"), .begin = kStart + 100, .end = kStart + 110, .caller = 0x1100});
    trace.call({.api = cudnn("cudnnB"), .begin = kStart + 120, .end = kStart + 135, .caller = 0x1100});
    trace.call({.api = device_sync(), .begin = kStart + 140, .end = kStart + 160, .caller = 0x5100});
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const Overview all = analysis::overview(*model, *model->timeline, 1);
    REQUIRE(all.lanes.size() == 1);
    REQUIRE(all.lanes[0].blocks.size() == 1);
    CHECK(name(all, all.lanes[0].blocks[0]) == "cudaDeviceSynchronize");
    CHECK(category(all, all.lanes[0].blocks[0]).name == "cudnn");
}

TEST_CASE("overview: threads stand by their API time; one without a call has no lane") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = device_sync(), .begin = kStart + 100, .end = kStart + 110});
    trace.new_segment();
    trace.thread(1, 101, "loader");
    trace.call({.api = device_sync(), .begin = kStart + 100, .end = kStart + 150});
    trace.new_segment();
    trace.thread(2, 102, "idle");
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const Overview all = analysis::overview(*model, *model->timeline);
    REQUIRE(all.lanes.size() == 2);
    CHECK(all.lanes[0].tid == 101);
    CHECK(all.lanes[0].thread_name == "loader");
    CHECK(all.lanes[1].tid == 100);
}

TEST_CASE("overview: activities without a usable time, or without a clock in common, are counted and not drawn") {
    TraceBuilder trace = two_streams();
    trace.activity({.name = "untimed", .start = 0, .duration = 0});
    const auto model = timeline_of(trace);
    const Overview all = analysis::overview(*model, *model->timeline);
    CHECK(all.unplaced == 1);
    CHECK(all.lanes.size() == 4);

    analysis::Timeline other_clock = *model->timeline;
    other_clock.device_clock_known = false;
    const Overview host = analysis::overview(*model, other_clock);
    CHECK(host.unplaced == 5);
    REQUIRE(host.lanes.size() == 1);
    CHECK(host.lanes[0].host);
}

TEST_CASE("overview: of a selection, by its own beginning; of nothing, nothing") {
    TraceBuilder trace = two_streams();
    const auto model = timeline_of(trace);
    analysis::Selection selection;
    selection.from_ns = 600;
    const Overview part = analysis::overview(*model, analysis::select(*model, *model->timeline, selection));
    REQUIRE(part.lanes.size() == 2);
    CHECK(part.wall_ns == 999'400);
    CHECK(part.lanes[0].blocks[0].begin_ns == 100);
    CHECK(part.lanes[1].blocks[0].begin_ns == 0);
    const Overview none = analysis::overview(*model, analysis::Timeline{});
    CHECK(none.lanes.empty());
    CHECK(none.wall_ns == 0);
}

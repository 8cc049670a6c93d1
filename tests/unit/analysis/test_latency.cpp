// Kernels from launch to end, what is in a device's queue, and the series that both are drawn from.
#include <catch2/catch.hpp>

#include "analysis/passes/latency.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

TEST_CASE("steps: average over time, highest, and equal parts of the range", "[latency]") {
    // 0 to 100: 2 from 10 on, 5 from 60 to 80, then 2 again.
    const auto series = analysis::step_series({{60, 3}, {10, 2}, {80, -3}}, 0, 100);
    CHECK(series.average == Approx((2.0 * 90 + 3.0 * 20) / 100));
    CHECK(series.max == 5);
    CHECK(series.max_at_ns == 60);
    CHECK(series.last == 2);
    REQUIRE(series.slots.size() == 100);
    CHECK(series.slots[9].max == 0);
    CHECK(series.slots[10].average == 2);
    CHECK(series.slots[79].last == 5);
    CHECK(series.slots[80].max == 2);
}

TEST_CASE("steps: what was before the range counts, what comes behind it does not", "[latency]") {
    const auto series = analysis::step_series({{0, 4}, {50, -1}, {2000, 9}}, 100, 1100);
    CHECK(series.average == 3);
    CHECK(series.max == 3);
    CHECK(series.max_at_ns == 100);
    CHECK(series.last == 3);
    REQUIRE(series.slots.size() == analysis::kMostSlots);
    CHECK(series.slots[1].begin_ns == 105);
}

TEST_CASE("steps of one moment happen together, and a step in a part weighs by its time", "[latency]") {
    const auto series = analysis::step_series({{100, 1}, {302, 1}, {302, -1}, {405, -1}, {1000, 7}}, 0, 1000);
    CHECK(series.max == 7);  // At the very end.
    CHECK(series.max_at_ns == 1000);
    CHECK(series.last == 7);
    CHECK(series.average == Approx(305.0 / 1000));
    CHECK(series.slots[60].max == 1);  // 300 to 305
    CHECK(series.slots[81].average == 0);
    CHECK(analysis::step_series({{5, 1}}, 5, 5).slots.empty());
}

namespace {

/// A runtime launch around the driver's: from `at` to at + 20, the driver's inside.
void launch(TraceBuilder& trace, std::uint64_t at, std::uint64_t correlation) {
    trace.call({.api = driver_launch(),
                .begin = kStart + at + 5,
                .end = kStart + at + 15,
                .depth = 1,
                .correlation = correlation});
    trace.call({.api = runtime_launch(), .begin = kStart + at, .end = kStart + at + 20, .caller = 0x5100});
}

void kernel(TraceBuilder& trace, const char* name, std::uint64_t at, std::uint64_t duration,
            std::uint64_t correlation) {
    trace.activity({.name = name, .start = on_device(kStart + at), .duration = duration, .correlation = correlation});
}

}  // namespace

TEST_CASE("call, queue and kernel time, of the call that the program made", "[latency]") {
    TraceBuilder trace = begun_trace();
    launch(trace, 100, 1);
    launch(trace, 200, 2);
    launch(trace, 300, 3);
    kernel(trace, "k", 150, 40, 1);     // Queued for 30.
    kernel(trace, "k", 210, 50, 2);     // Began inside its call.
    kernel(trace, "other", 320, 5, 3);  // Began when its call returned: neither.
    trace.activity({.name = "k", .start = on_device(kStart + 400), .duration = 5, .correlation = 99});
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const auto found = analysis::latencies(*model, *model->timeline);
    CHECK(found.without_launch == 1);
    CHECK(found.untimed == 0);
    REQUIRE(found.kernels.size() == 2);
    const analysis::KernelLatency& row = found.kernels[0];
    CHECK(row.mangled == "k");
    CHECK(row.call == "cudaLaunchKernel");
    CHECK(row.tid == 100);
    CHECK(row.count == 2);
    CHECK(row.launches == 2);
    CHECK(row.queued == 1);
    CHECK(row.early == 1);
    CHECK(row.total.time_ns == 90 + 60);  // 100 to 190, 200 to 260
    CHECK(row.total.med_ns == 75);
    CHECK(row.api.avg_ns == 20);
    CHECK(row.queue.timed == 1);
    CHECK(row.queue.time_ns == 30);
    CHECK(row.kernel.time_ns == 90);
    CHECK(row.kernel.std_dev_ns == Approx(7.0710678));
    CHECK(found.kernels[1].queued == 0);
    CHECK(found.kernels[1].early == 0);
}

TEST_CASE("a graph's launch is one launch: of the kernel that began first", "[latency]") {
    TraceBuilder trace = begun_trace();
    trace.graph_exec(kStart + 50, 0xe1, 9, 2);
    trace.graph_nodes(kStart + 50, 0xe1, {{0, 0, 0xf1, 0}, {1, 0, 0xf2, 0}});
    for (const std::uint64_t round : {0U, 1U}) {
        const std::uint64_t at = 100 + 1000 * round;
        trace.call({.api = graph_launch(),
                    .begin = kStart + at,
                    .end = kStart + at + 10,
                    .correlation = 5 + round,
                    .exec = 0xe1});
        for (const std::uint64_t node : {0U, 1U}) {
            trace.activity({.name = node == 0 ? "first" : "second",
                            .start = on_device(kStart + at + 60 + 100 * node),
                            .duration = 20,
                            .correlation = 5 + round,
                            .graph_exec_id = 9,
                            .graph_node = node});
        }
    }
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const auto found = analysis::latencies(*model, *model->timeline);
    REQUIRE(found.kernels.size() == 2);
    CHECK(found.kernels[0].mangled == "first");
    CHECK(found.kernels[0].call == "cudaGraphLaunch");
    CHECK(found.kernels[0].launches == 2);
    CHECK(found.kernels[0].queued == 2);
    CHECK(found.kernels[0].queue.avg_ns == 50);
    CHECK(found.kernels[0].total.avg_ns == 80);
    CHECK(found.kernels[1].mangled == "second");
    CHECK(found.kernels[1].count == 2);
    CHECK(found.kernels[1].launches == 0);
    CHECK(found.kernels[1].api.timed == 0);
    CHECK(found.kernels[1].kernel.time_ns == 40);
}

TEST_CASE("what waits in a device's queue, and what is not finished", "[latency]") {
    TraceBuilder trace = begun_trace();
    launch(trace, 100, 1);  // Given at 120, runs 200 to 300
    launch(trace, 130, 2);  // Given at 150, runs 300 to 400
    launch(trace, 500, 3);  // Given when it begins, 510, inside its call; to 600
    kernel(trace, "k", 200, 100, 1);
    kernel(trace, "k", 300, 100, 2);
    kernel(trace, "k", 510, 90, 3);
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const auto depths = analysis::queue_depths(*model, *model->timeline);
    REQUIRE(depths.size() == 1);
    CHECK(depths[0].waiting.max == 2);
    CHECK(depths[0].waiting.max_at_ns == static_cast<std::int64_t>(kStart + kHostOffset + 150));
    CHECK(depths[0].waiting.average == Approx((80 + 150) / 1e6));
    CHECK(depths[0].unfinished.max == 2);
    CHECK(depths[0].unfinished.average == Approx((180 + 250 + 90) / 1e6));
    CHECK(depths[0].unfinished.last == 0);
    CHECK(depths[0].waiting.slots.size() == depths[0].unfinished.slots.size());
}

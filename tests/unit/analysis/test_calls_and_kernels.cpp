// The passes over a timeline behind the views `kernels` and `calls`.
#include <catch2/catch.hpp>

#include "analysis/passes/kernel_uses.hpp"
#include "analysis/passes/thread_calls.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

TraceBuilder two_threads() {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(), .begin = kStart + 110, .end = kStart + 120, .depth = 1, .correlation = 1});
    trace.call({.api = driver_launch(), .begin = kStart + 130, .end = kStart + 150, .depth = 1, .correlation = 2});
    trace.call({.api = cudnn("cudnnConvolutionForward"), .begin = kStart + 100, .end = kStart + 200, .caller = 0x1100});
    trace.call({.api = device_sync(), .begin = kStart + 300, .end = kStart + 700, .caller = 0x5100, .status = 700});
    trace.thread(1, 101, "worker");
    trace.call(
        {.api = driver_launch(), .begin = kStart + 400, .end = kStart + 430, .correlation = 3, .caller = 0x5100});
    trace.activity({.name = "k", .start = on_device(kStart + 400), .duration = 100, .correlation = 1});
    trace.activity(
        {.name = "k", .start = on_device(kStart + 500), .duration = 300, .correlation = 2, .grid = {4, 1, 1}});
    trace.activity({.name = "own", .start = on_device(kStart + 800), .duration = 100, .correlation = 3});
    trace.end(kStart + 1'000'000);
    return trace;
}

}  // namespace

TEST_CASE("kernels of a timeline: one row for each name and owner, or for each configuration") {
    TraceBuilder trace = two_threads();
    const auto model = timeline_of(trace);
    const auto rows = analysis::kernel_uses(*model, *model->timeline, false);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].mangled == "k");
    CHECK(rows[0].owner == "cudnn");
    CHECK(rows[0].count == 2);
    CHECK(rows[0].configs == 2);
    CHECK(rows[0].duration.time_ns == 400);
    CHECK(rows[0].duration.avg_ns == 200);
    CHECK(rows[0].duration.std_dev_ns == Approx(141.42135));  // sqrt(2 x 100^2 / 1)
    CHECK(rows[0].share_of_kernels == Approx(0.8));
    CHECK(rows[0].share_of_wall == Approx(400.0 / 1'000'000));
    CHECK(rows[1].duration.std_dev_ns == 0);

    const auto configs = analysis::kernel_uses(*model, *model->timeline, true);
    REQUIRE(configs.size() == 3);
    CHECK(configs[0].config.grid == std::array<std::uint32_t, 3>{4, 1, 1});
    CHECK(configs[0].duration.time_ns == 300);
    CHECK(configs[0].config.block[0] == 128);
    CHECK(configs[0].config.registers == 32);
    CHECK(configs[0].config.shared_bytes == 64);
}

TEST_CASE("threads: what their outermost calls cover, and what fails") {
    TraceBuilder trace = two_threads();
    const auto model = timeline_of(trace);
    const auto rows = analysis::thread_table(*model, *model->timeline);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].tid == 100);
    CHECK(rows[0].calls == 4);
    CHECK(rows[0].launches == 2);
    CHECK(rows[0].failed == 1);
    CHECK(rows[0].api_ns == 500);
    CHECK(rows[0].sync_ns == 400);
    CHECK(rows[0].sync_share_of_wall == Approx(400.0 / 1'000'000));
    CHECK(rows[1].name == "worker");
    CHECK(rows[1].launches == 1);
    CHECK(rows[1].api_ns == 30);
}

TEST_CASE("calls of a timeline agree with those of the summary") {
    TraceBuilder trace = two_threads();
    const auto model = timeline_of(trace);
    const auto rows = analysis::call_table(*model, *model->timeline);
    const auto summary = analysis::call_table(*model);
    REQUIRE(rows.size() == summary.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(rows[i].name == summary[i].name);
        CHECK(rows[i].count == summary[i].count);
        CHECK(rows[i].failed == summary[i].failed);
        CHECK(rows[i].outermost == summary[i].outermost);
        CHECK(rows[i].duration.time_ns == summary[i].duration.time_ns);
    }
}

TEST_CASE("library calls own what is launched inside them") {
    TraceBuilder trace = two_threads();
    const auto model = timeline_of(trace);
    const auto rows = analysis::library_call_table(*model, *model->timeline);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].name == "cudnnConvolutionForward");
    CHECK(rows[0].count == 1);
    CHECK(rows[0].host_ns == 100);
    CHECK(rows[0].kernels == 2);
    CHECK(rows[0].gpu_ns == 400);
    CHECK(rows[0].share_of_gpu == Approx(0.8));
}

// A file that a flight recorder cut: what stands outside it is known to, and is neither lost nor unexplained.
#include <catch2/catch.hpp>

#include <span>

#include "analysis/passes/compare.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Findings;

namespace {

void launch(TraceBuilder& trace, std::uint64_t at, std::uint64_t correlation) {
    trace.call({.api = driver_launch(),
                .begin = at,
                .end = at + 5,
                .correlation = correlation,
                .caller = 0x5500,
                .function = 0xf1});
}

void kernel(TraceBuilder& trace, std::uint64_t at, std::uint64_t correlation) {
    trace.activity({.name = "k", .start = on_device(at), .duration = 50, .correlation = correlation});
}

}  // namespace

TEST_CASE("launches and records outside the kept span are a cause of their own") {
    TraceBuilder trace = begun_trace();
    trace.kept({.ticks = kStart + 100,
                .calls = 40,
                .device_records = 30,
                .ranges = 20,
                .blocks = 3,
                .bytes = 1000,
                .correlation = 10,
                .limit_ns = 2'000'000'000,
                .limit_bytes = 8 << 20});
    launch(trace, kStart + 90, 11);  // Begun before, encoded after: its record came before.
    launch(trace, kStart + 200, 12);
    kernel(trace, kStart + 150, 4);  // Of launches that are not in the file.
    kernel(trace, kStart + 160, 10);
    kernel(trace, kStart + 300, 12);
    trace.cost(42, 1'000'000);  // Of the whole recording. There is no CPU record.
    const bool has_orphan = GENERATE(false, true);
    if (has_orphan) {
        kernel(trace, kStart + 400, 13);  // Later than what was cut: no launch is known, and none is excused.
    }
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    const auto& launches = findings.completeness.launches;
    CHECK(launches.host == 2);
    CHECK(launches.matched == 1);
    CHECK(launches.launched_before_kept == 2);
    CHECK(launches.returned_before_kept == 1);
    CHECK(launches.unmatched_launches == 0);
    CHECK(launches.unmatched_records == (has_orphan ? 1 : 0));
    CHECK(findings.completeness.complete == !has_orphan);
    // A comparison says it; its numbers are of the kept part alone.
    const auto model = model_of(trace);
    const analysis::RunGroup kept{"a", {analysis::trace_facts(*model, findings)}};
    const auto notes = analysis::comparison_notes(std::span(&kept, 1));
    REQUIRE_FALSE(notes.empty());
    CHECK(notes.front().starts_with("a: the last part of a recording (GPUSPY_LAST), "));
    CHECK(kernel_row(findings, "k", "app").count == 1);
    CHECK(kernel_row(findings, "k", "unknown").count == (has_orphan ? 3 : 2));
    REQUIRE(findings.run.kept.has_value());
    CHECK(findings.run.kept->dropped.calls == 40);
    CHECK(findings.run.kept->dropped.device_records == 30);
    CHECK(findings.run.kept->dropped.ranges == 20);
    CHECK(findings.run.kept->dropped.blocks == 3);
    CHECK(findings.run.kept->dropped.bytes == 1000);
    CHECK(findings.run.kept->dropped.limit_ns == 2'000'000'000);
    CHECK(findings.run.kept->dropped.limit_bytes == 8 << 20);
    CHECK(findings.overhead.calls == 2);
    CHECK(findings.overhead.calls_ns == 2000);
    CHECK(findings.overhead.drain_ns == 0);
    CHECK(findings.overhead.callback_ns == 0);
}

TEST_CASE("correlation ids of 32 bits come round before or behind the cut") {
    TraceBuilder trace = begun_trace();
    std::uint64_t highest_before = 0;
    std::uint64_t before = 0;
    std::uint64_t launched = 0;
    SECTION("before it") {
        highest_before = 3;
        before = 0xfffffffe;
        launched = 4;
    }
    SECTION("behind it") {
        highest_before = 0xfffffff0;
        before = 0xffffffef;
        launched = 2;
    }
    trace.kept({.ticks = kStart + 100, .calls = 7, .correlation = highest_before});
    launch(trace, kStart + 200, launched);
    kernel(trace, kStart + 150, before);
    kernel(trace, kStart + 300, launched);
    kernel(trace, kStart + 400, launched + 1);
    trace.end(kStart + 900);
    const auto launches = findings_of(trace).completeness.launches;
    CHECK(launches.matched == 1);
    CHECK(launches.launched_before_kept == 1);
    CHECK(launches.unmatched_records == 1);
}

TEST_CASE("no launch before the cut excuses no record") {
    TraceBuilder trace = begun_trace();
    trace.kept({.ticks = kStart + 100, .calls = 7, .correlation = 0});
    kernel(trace, kStart + 150, 0xfffffffe);
    trace.end(kStart + 900);
    const auto launches = findings_of(trace).completeness.launches;
    CHECK(launches.launched_before_kept == 0);
    CHECK(launches.unmatched_records == 1);
}

TEST_CASE("CPU time of a kept part is what was used since the cut") {
    TraceBuilder trace = begun_trace();
    trace.kept({.ticks = kStart + 100, .calls = 50});
    trace.cpu(kStart + 100, 9'000, 8'000, 700, 60);
    trace.cost(40, 1'000'000);  // Fewer than were left out: of an earlier moment. No negative number.
    trace.cpu(kStart + 800, 9'500, 8'000, 1'000, 75);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.overhead.known);
    CHECK(findings.overhead.calls == 0);
    CHECK(findings.overhead.drain_ns == 300);
    CHECK(findings.overhead.callback_ns == 15);
}

TEST_CASE("a graph captured before the cut has its owners from what is said again") {
    TraceBuilder trace = begun_trace();
    trace.kept({.ticks = kStart + 100, .calls = 5, .correlation = 10});
    trace.graph_exec(kStart + 50, 0xe1, 9, 3);
    trace.graph_nodes(kStart + 50, 0xe1, {{0, 0, 0xf1, 1}, {1, 0, 0xf1, 2}, {2, 0, 0xf1, 3}});
    trace.origin(1, cudnn("cudnnConvolutionForward"), 0x1500, kStart + 40);
    trace.origin(2, {}, 0x1500, kStart + 41);
    trace.call({.api = graph_launch(),
                .begin = kStart + 200,
                .end = kStart + 210,
                .correlation = 11,
                .caller = 0x5500,
                .exec = 0xe1});
    for (const std::uint64_t node : {0, 1, 2}) {
        trace.activity({.name = "k",
                        .start = on_device(kStart + 300 + 100 * node),
                        .duration = 50,
                        .correlation = 11,
                        .graph_exec_id = 9,
                        .graph_node = node});
    }
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.complete);
    CHECK(findings.completeness.launches.unknown_graphs == 0);
    CHECK(kernel_row(findings, "k", "cudnn").count == 1);
    CHECK(kernel_row(findings, "k", "libtorch_cuda.so").count == 1);
    CHECK(kernel_row(findings, "k", "app").count == 1);  // Of its capture nothing is said: whoever launched the graph.
}

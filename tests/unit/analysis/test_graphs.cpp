// Executable graphs: replays, child graphs, updates, several of them, ownership taken at capture.
#include <catch2/catch.hpp>

#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Findings;

namespace {

void replay(TraceBuilder& trace, std::uint64_t at, std::uint64_t exec, std::uint64_t correlation,
            std::uint64_t caller = 0x5500) {
    trace.call({.api = graph_launch(),
                .begin = at,
                .end = at + 10,
                .correlation = correlation,
                .caller = caller,
                .exec = exec});
}

void node(TraceBuilder& trace, const std::string& name, std::uint64_t at, std::uint64_t correlation,
          std::uint64_t exec_id, std::uint64_t index) {
    trace.activity({.name = name,
                    .start = on_device(at),
                    .duration = 10,
                    .correlation = correlation,
                    .graph_exec_id = exec_id,
                    .graph_node = index});
}

void captured(TraceBuilder& trace, std::uint64_t at, std::uint64_t launch_id, std::uint64_t caller,
              std::uint32_t depth = 0) {
    trace.call({.api = runtime_launch(),
                .begin = at,
                .end = at + 5,
                .depth = depth,
                .caller = caller,
                .launch_id = launch_id,
                .flags = abi::kCallCaptured});
}

}  // namespace

TEST_CASE("replays of a captured graph: expected by node, owned as captured") {
    TraceBuilder trace = begun_trace();
    captured(trace, kStart + 10, 1, 0x1500);     // the framework's own
    captured(trace, kStart + 25, 2, 0x9000, 1);  // inside cudnn
    trace.call({.api = cudnn("cudnnConvolutionForward"), .begin = kStart + 20, .end = kStart + 35, .caller = 0x1500});
    trace.graph_exec(kStart + 50, 0xe1, 9, 2, 0, 1);
    // Node 1 is a copy.
    trace.graph_nodes(kStart + 50, 0xe1, {{0, 0, 0xf1, 1}, {1, 1, 0, 0}, {2, 0, 0xf2, 2}});
    for (std::uint64_t i = 0; i < 20; ++i) {
        replay(trace, kStart + 100 + 20 * i, 0xe1, 10 + i);
        node(trace, "own", kStart + 1'000 + 100 * i, 10 + i, 9, 0);
        trace.activity({.tag = abi::Tag::kMemcpy,
                        .start = on_device(kStart + 1'020 + 100 * i),
                        .duration = 5,
                        .correlation = 10 + i,
                        .graph_exec_id = 9,
                        .graph_node = 1,
                        .bytes = 64,
                        .copy_kind = 8});
        node(trace, "conv", kStart + 1'030 + 100 * i, 10 + i, 9, 2);
    }
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    const auto& launches = findings.completeness.launches;
    CHECK(launches.host == 22);
    CHECK(launches.captured == 2);
    CHECK(launches.graph_launches == 20);
    CHECK(launches.graph_nodes == 40);
    CHECK(launches.expected == 40);
    CHECK(launches.matched == 40);
    CHECK(findings.completeness.complete);
    CHECK(kernel_row(findings, "own").owner == "libtorch_cuda.so");
    CHECK(kernel_row(findings, "own").count == 20);
    CHECK(kernel_row(findings, "conv").owner == "cudnn");
    CHECK(kernel_row(findings, "conv").library == "cudnn");
    CHECK(kernel_row(findings, "conv").owner_by_graph_launch == 0);
    REQUIRE(findings.copies.size() == 1);
    CHECK(findings.copies[0].count == 20);
}

TEST_CASE("a graph whose capture was not seen belongs to who launched it, and says so") {
    TraceBuilder trace = begun_trace();
    trace.graph_exec(kStart + 50, 0xe1, 9, 2);
    trace.graph_nodes(kStart + 50, 0xe1, {{0, 0, 0xf1, 0}, {1, 0, 0xf1, 999}});
    replay(trace, kStart + 100, 0xe1, 10);
    node(trace, "k", kStart + 200, 10, 9, 0);
    node(trace, "k", kStart + 300, 10, 9, 1);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.complete);
    CHECK(kernel_row(findings, "k").owner == "app");
    CHECK(kernel_row(findings, "k").owner_by_graph_launch == 2);
}

TEST_CASE("in a graph one record withheld and one doubled: both appear") {
    TraceBuilder trace = begun_trace();
    trace.name(kStart, 0xf2, "lost");
    trace.graph_exec(kStart + 50, 0xe1, 9, 3);
    trace.graph_nodes(kStart + 50, 0xe1, {{0, 0, 0xf1, 0}, {1, 0, 0xf2, 0}, {2, 0, 0xf3, 0}});
    replay(trace, kStart + 100, 0xe1, 10);
    node(trace, "a", kStart + 200, 10, 9, 0);
    node(trace, "c", kStart + 300, 10, 9, 2);
    node(trace, "c", kStart + 400, 10, 9, 2);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    const auto& all = findings.completeness;
    CHECK(all.launches.expected == 3);
    CHECK(all.launches.matched == 2);
    CHECK(all.launches.unmatched_launches == 1);
    CHECK(all.launches.unmatched_records == 1);
    REQUIRE(all.unmatched.size() == 2);
    CHECK(all.unmatched[0].mangled == "c");
    CHECK(all.unmatched[0].records == 1);
    CHECK(all.unmatched[1].mangled == "lost");
    CHECK(all.unmatched[1].launches == 1);
}

TEST_CASE("an update replaces what a graph holds, from then on") {
    TraceBuilder trace = begun_trace();
    captured(trace, kStart + 10, 1, 0x1500);
    captured(trace, kStart + 20, 2, 0x5500);
    trace.graph_exec(kStart + 50, 0xe1, 9, 2);
    trace.graph_nodes(kStart + 50, 0xe1, {{0, 0, 0xf1, 1}, {1, 0, 0xf1, 1}});
    replay(trace, kStart + 100, 0xe1, 10);
    trace.graph_exec(kStart + 150, 0xe1, 9, 1, abi::kGraphUpdated);
    trace.graph_nodes(kStart + 150, 0xe1, {{0, 0, 0xf1, 2}});
    replay(trace, kStart + 200, 0xe1, 11);
    node(trace, "k", kStart + 300, 10, 9, 0);
    node(trace, "k", kStart + 320, 10, 9, 1);
    node(trace, "k", kStart + 340, 11, 9, 0);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.launches.graph_nodes == 3);
    CHECK(findings.completeness.complete);
    CHECK(kernel_row(findings, "k", "libtorch_cuda.so").count == 2);
    CHECK(kernel_row(findings, "k", "app").count == 1);
}

TEST_CASE("two executable graphs, one handle given out again, nodes told in pieces and out of order") {
    TraceBuilder trace = begun_trace();
    captured(trace, kStart + 10, 1, 0x1500);
    captured(trace, kStart + 20, 2, 0x5500);
    trace.graph_exec(kStart + 50, 0xe1, 9, 3);
    trace.graph_exec(kStart + 60, 0xe2, 10, 1);
    trace.graph_nodes(kStart + 60, 0xe2, {{0, 0, 0xf1, 2}});
    trace.graph_nodes(kStart + 50, 0xe1, {{1, 0, 0xf1, 1}, {2, 0, 0xf1, 1}});  // a child graph's
    trace.graph_nodes(kStart + 50, 0xe1, {{0, 0, 0xf1, 1}});
    replay(trace, kStart + 100, 0xe1, 10);
    replay(trace, kStart + 120, 0xe2, 11);
    trace.graph_exec(kStart + 150, 0xe1, 12, 1);  // Another graph under the first one's handle.
    trace.graph_nodes(kStart + 150, 0xe1, {{0, 0, 0xf1, 2}});
    replay(trace, kStart + 200, 0xe1, 12);
    for (const std::uint64_t index : {0, 1, 2}) {
        node(trace, "k", kStart + 300 + 20 * index, 10, 9, index);
    }
    node(trace, "k", kStart + 400, 11, 10, 0);
    node(trace, "k", kStart + 420, 12, 12, 0);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.launches.expected == 5);
    CHECK(findings.completeness.complete);
    CHECK(kernel_row(findings, "k", "libtorch_cuda.so").count == 3);
    CHECK(kernel_row(findings, "k", "app").count == 2);
}

TEST_CASE("a graph made before the recording began: its records are its, and it is not complete") {
    TraceBuilder trace = begun_trace();
    replay(trace, kStart + 100, 0xe1, 10);
    node(trace, "k", kStart + 300, 10, 9, 0);
    node(trace, "k", kStart + 320, 10, 9, 1);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    const auto& launches = findings.completeness.launches;
    CHECK(launches.unknown_graphs == 1);
    CHECK(launches.expected == 0);
    CHECK(launches.matched_beyond == 2);
    CHECK(launches.unmatched_records == 0);
    CHECK_FALSE(findings.completeness.complete);
    CHECK(kernel_row(findings, "k").owner == "app");
}

TEST_CASE("conditional nodes: a lower bound, said so") {
    TraceBuilder trace = begun_trace();
    trace.graph_exec(kStart + 50, 0xe1, 9, 1, abi::kGraphConditional);
    trace.graph_nodes(kStart + 50, 0xe1, {{0, 0, 0xf1, 0}});
    replay(trace, kStart + 100, 0xe1, 10);
    for (const std::uint64_t i : {0, 1, 2}) {
        node(trace, "body", kStart + 300 + 20 * i, 10, 9, 0);
    }
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.launches.conditional_graphs == 1);
    CHECK(findings.completeness.launches.matched == 1);
    CHECK(findings.completeness.launches.matched_beyond == 2);
    CHECK(findings.completeness.launches.unmatched_records == 0);
    CHECK_FALSE(findings.completeness.complete);
    CHECK_THAT(findings.completeness.reasons.at(0), Catch::Contains("lower bound"));
}

TEST_CASE("a graph whose list of nodes is not whole is matched by count") {
    TraceBuilder trace = begun_trace();
    captured(trace, kStart + 10, 1, 0x1500);
    trace.graph_exec(kStart + 50, 0xe1, 9, 3, abi::kGraphNodesLost);
    trace.graph_nodes(kStart + 50, 0xe1, {{0, 0, 0xf1, 1}});
    replay(trace, kStart + 100, 0xe1, 10);
    for (const std::uint64_t index : {0, 1, 2}) {
        node(trace, "k", kStart + 300 + 20 * index, 10, 9, index);
    }
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.launches.matched == 3);
    CHECK(findings.completeness.complete);
    CHECK(kernel_row(findings, "k", "libtorch_cuda.so").count == 1);
    CHECK(kernel_row(findings, "k", "app").owner_by_graph_launch == 2);
}

TEST_CASE("graph launches without device times count their kernels") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.anchor(kStart, kStart + kHostOffset);
    trace.thread(0, 100);
    trace.object(kStart, 0x1000, 0x2000, "libtorch.so");
    trace.name(kStart, 0xf1, "k");
    captured(trace, kStart + 10, 1, 0x1500);
    trace.graph_exec(kStart + 50, 0xe1, 0, 2);
    trace.graph_nodes(kStart + 50, 0xe1, {{0, 0, 0xf1, 1}, {1, 0, 0xf1, 1}});
    for (std::uint64_t i = 0; i < 3; ++i) {
        trace.call({.api = graph_launch(),
                    .begin = kStart + 100 + 10 * i,
                    .end = kStart + 105 + 10 * i,
                    .exec = 0xe1,
                    .flags = abi::kCallUntimed});
    }
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.launches.graph_nodes == 6);
    CHECK(findings.completeness.launches.expected == 0);
    CHECK(kernel_row(findings, "k", "libtorch.so").count == 6);
}

TEST_CASE("capturing a graph launch, and one that failed") {
    TraceBuilder trace = begun_trace();
    trace.graph_exec(kStart + 50, 0xe1, 9, 2);
    trace.call(
        {.api = graph_launch(), .begin = kStart + 100, .end = kStart + 105, .exec = 0xe1, .flags = abi::kCallCaptured});
    trace.call({.api = graph_launch(), .begin = kStart + 110, .end = kStart + 115, .exec = 0xe1, .status = 1});
    trace.end(kStart + 900);
    const auto launches = findings_of(trace).completeness.launches;
    CHECK(launches.host == 2);
    CHECK(launches.graph_launches == 0);
    CHECK(launches.graph_nodes == 0);
    CHECK(launches.captured == 1);
    CHECK(launches.failed == 1);
}

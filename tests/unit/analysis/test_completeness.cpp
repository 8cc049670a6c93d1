// When a report may say "complete", and each cause from its own evidence.
#include <catch2/catch.hpp>

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Findings;

namespace {

void launch(TraceBuilder& trace, std::uint64_t at, std::uint64_t correlation, std::uint64_t stream = 0) {
    trace.call({.api = runtime_launch(),
                .begin = at,
                .end = at + 5,
                .correlation = correlation,
                .caller = 0x5500,
                .function = 0xf1,
                .stream = stream});
}

void kernel(TraceBuilder& trace, std::uint64_t at, std::uint64_t correlation) {
    trace.activity({.name = "k", .start = on_device(at), .duration = 10, .correlation = correlation});
}

/// One launch and its record, so that only what is added can keep it from being complete.
TraceBuilder whole_trace() {
    TraceBuilder trace = begun_trace();
    trace.name(kStart, 0xf1, "k");
    launch(trace, kStart + 10, 1);
    kernel(trace, kStart + 100, 1);
    return trace;
}

}  // namespace

TEST_CASE("complete") {
    TraceBuilder trace = whole_trace();
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.complete);
    CHECK(findings.completeness.reasons.empty());
}

TEST_CASE("each cause alone keeps a report from being complete, and is named") {
    struct Case {
        std::string says;
        std::function<void(TraceBuilder&)> add;
        std::string dropped;
    };
    const auto loss = [](abi::LossCause cause) { return [cause](TraceBuilder& trace) { trace.loss(cause, 3); }; };
    const std::vector<Case> cases = {
        {"ring was full", loss(abi::LossCause::kRingFull), "ring_full"},
        {"CUPTI says it dropped", loss(abi::LossCause::kCuptiDropped), "cupti_dropped"},
        {"none was free", loss(abi::LossCause::kScratchBuffer), "scratch_buffer"},
        {"got no ring", loss(abi::LossCause::kNoRing), "no_ring"},
        {"no free slot", loss(abi::LossCause::kNoSlot), "no_slot"},
        {"graph nodes", loss(abi::LossCause::kGraphNodesDropped), "graph_nodes_dropped"},
        {"could not be written", loss(abi::LossCause::kWriteFailed), "write_failed"},
        {"could not be read", loss(abi::LossCause::kUnparsedRecord), "unparsed_record"},
        {"does not know", loss(static_cast<abi::LossCause>(77)), "cause_77"},
        {"no device record", [](TraceBuilder& trace) { launch(trace, kStart + 20, 2); }, ""},
        {"no launch", [](TraceBuilder& trace) { kernel(trace, kStart + 300, 9); }, ""},
        {"device times were not recorded",
         [](TraceBuilder& trace) {
             trace.call(
                 {.api = runtime_launch(), .begin = kStart + 30, .end = kStart + 40, .flags = abi::kCallUntimed});
         },
         ""},
        {"in part only", [](TraceBuilder& trace) { trace.record(abi::Tag::kAnchor, "\x80"); }, ""},
    };
    for (const Case& one : cases) {
        TraceBuilder trace = whole_trace();
        one.add(trace);
        trace.end(kStart + 900);
        const auto all = findings_of(trace).completeness;
        INFO(one.says);
        CHECK_FALSE(all.complete);
        REQUIRE(all.reasons.size() == 1);
        CHECK_THAT(all.reasons[0], Catch::Contains(one.says));
        if (!one.dropped.empty()) {
            REQUIRE(all.losses.size() == 1);
            CHECK(all.losses[0].cause == one.dropped);
            CHECK(all.losses[0].count == 3);
        }
    }
}

TEST_CASE("what could not be written may hold what has no other half, and a trace that ends for it says so") {
    TraceBuilder trace = whole_trace();
    launch(trace, kStart + 20, 2);
    kernel(trace, kStart + 300, 9);
    SECTION("the disk had room again: the end is there, and so is the count") {
        trace.loss(abi::LossCause::kWriteFailed, 3);
        trace.end(kStart + 900);
        const Findings findings = findings_of(trace);
        const auto& reasons = findings.completeness.reasons;
        REQUIRE(reasons.size() == 3);
        CHECK(reasons[0] == "1 kernel launch has no device record: it may be in what could not be written");
        CHECK(reasons[1] == "1 kernel record has no launch: it may be in what could not be written");
        CHECK(reasons[2] == "3 bytes that could not be written to the trace");
        CHECK(findings.run.end_text == "ended cleanly");
    }
    SECTION("it had not: the header says why there is no end") {
        trace.header.optional_features = std::uint64_t{ENOSPC} << abi::kFeatureWriteErrorShift;
        const Findings findings = findings_of(trace);
        const auto& reasons = findings.completeness.reasons;
        REQUIRE(reasons.size() == 3);
        CHECK(reasons[0] ==
              "1 kernel record has no launch: it may be in what could not be written (No space left on device)");
        CHECK(reasons[1] ==
              "1 kernel's record came, if at all, when the trace could not be written any more (No space left on "
              "device)");
        CHECK(reasons[2] == "the trace has no end: it could not be written any more (No space left on device)");
        CHECK(findings.run.end_text ==
              "not recorded to its end: the trace could not be written (No space left on device)");
    }
    SECTION("the command's status is the process's") {
        trace.header.optional_features = std::uint64_t{EFBIG} << abi::kFeatureWriteErrorShift;
        trace.end(kStart + 900, abi::EndKind::kWaitStatus, 3 << 8);
        CHECK(findings_of(trace).run.end_text ==
              "not recorded to its end: the trace could not be written (File too large); the process ended, exit "
              "status 3");
    }
}

TEST_CASE("entry points that are in no hook table are no loss") {
    TraceBuilder trace = whole_trace();
    trace.loss(abi::LossCause::kUnmappedPointer, 12);
    trace.loss(abi::LossCause::kRingFull, 0);
    trace.end(kStart + 900);
    const auto all = findings_of(trace).completeness;
    CHECK(all.complete);
    REQUIRE(all.losses.size() == 1);
    CHECK(all.losses[0].cause == "unmapped_pointer");
}

TEST_CASE("losses are totals: the last one of a cause and thread counts") {
    TraceBuilder trace = whole_trace();
    trace.loss(abi::LossCause::kRingFull, 5, 1);
    trace.loss(abi::LossCause::kRingFull, 2, 2);
    trace.loss(abi::LossCause::kRingFull, 9, 1);
    trace.end(kStart + 900);
    const auto all = findings_of(trace).completeness;
    REQUIRE(all.losses.size() == 1);
    CHECK(all.losses[0].count == 11);
}

TEST_CASE(
    "a full ring that drops the call with the id: launch and record are unmatched, and perhaps among what was "
    "dropped") {
    TraceBuilder trace = whole_trace();
    trace.call({.api = runtime_launch(), .begin = kStart + 20, .end = kStart + 25, .caller = 0x5500, .function = 0xf1});
    kernel(trace, kStart + 200, 2);
    trace.loss(abi::LossCause::kRingFull, 1, 1);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.launches.host == 2);
    CHECK(findings.completeness.launches.unmatched_launches == 1);
    CHECK(findings.completeness.launches.not_returned == 0);
    CHECK(findings.completeness.launches.unmatched_records == 1);
    const auto& reasons = findings.completeness.reasons;
    REQUIRE(reasons.size() == 3);
    CHECK(reasons[0] == "1 kernel launch has no device record; the events that name it may be among those dropped");
    CHECK(reasons[1] == "1 kernel record has no launch; the events that name it may be among those dropped");
}

TEST_CASE("a process that died: what had not come back is told from what was lost") {
    TraceBuilder trace = begun_trace();
    trace.name(kStart, 0xf1, "k");
    for (std::uint64_t correlation = 1; correlation <= 6; ++correlation) {
        launch(trace, kStart + 10 * correlation, correlation, 7);
    }
    launch(trace, kStart + 100, 20, 8);  // Another stream: nothing ever came back from it.
    for (const std::uint64_t correlation : {1, 2, 4}) {
        kernel(trace, kStart + 200 + 20 * correlation, correlation);
    }
    SECTION("without notice: 3 was lost on the way, 5, 6 and 20 had not come back") {
        const auto all = findings_of(trace).completeness;
        CHECK(all.launches.expected == 7);
        CHECK(all.launches.matched == 3);
        CHECK(all.launches.not_returned == 3);
        CHECK(all.launches.unmatched_launches == 1);
        REQUIRE(all.unmatched.size() == 1);
        CHECK(all.unmatched[0].mangled == "k");
        CHECK(all.unmatched[0].not_returned == 3);
        CHECK(all.unmatched[0].launches == 1);
        CHECK_FALSE(all.complete);
    }
    SECTION("ended cleanly: all four were lost") {
        trace.end(kStart + 900);
        const auto all = findings_of(trace).completeness;
        CHECK(all.launches.not_returned == 0);
        CHECK(all.launches.unmatched_launches == 4);
    }
}

TEST_CASE("a graph launch that died in the middle") {
    TraceBuilder trace = begun_trace();
    trace.graph_exec(kStart + 5, 0xe1, 9, 3);
    trace.graph_nodes(kStart + 5, 0xe1, {{0, 0, 0xf1, 0}, {1, 0, 0xf1, 0}, {2, 0, 0xf1, 0}});
    trace.call({.api = graph_launch(), .begin = kStart + 10, .end = kStart + 20, .correlation = 1, .exec = 0xe1});
    trace.activity({.name = "k",
                    .start = on_device(kStart + 100),
                    .duration = 10,
                    .correlation = 1,
                    .graph_exec_id = 9,
                    .graph_node = 0});
    const auto launches = findings_of(trace).completeness.launches;
    CHECK(launches.matched == 1);
    CHECK(launches.not_returned == 2);
    CHECK(launches.unmatched_launches == 0);
}

TEST_CASE("how it ended, in words") {
    const auto end_of = [](const std::function<void(TraceBuilder&)>& add) {
        TraceBuilder trace = whole_trace();
        add(trace);
        const Findings findings = findings_of(trace);
        return findings.run.end_text + (findings.completeness.complete ? " | complete" : " | not complete");
    };
    CHECK(end_of([](TraceBuilder& trace) { trace.end(kStart + 900); }) == "ended cleanly | complete");
    CHECK(end_of([](TraceBuilder&) {}) == "ended without notice, or still running | not complete");
    CHECK(end_of([](TraceBuilder& trace) {
              trace.end(kStart + 900);
              trace.end(kStart + 950, abi::EndKind::kWaitStatus, 3 << 8);
          }) == "ended cleanly, exit status 3 | complete");
    CHECK(end_of([](TraceBuilder& trace) {
              trace.new_segment();
              trace.salvaged(true);
              trace.end(kStart + 900, abi::EndKind::kSalvaged);
              trace.end(kStart + 950, abi::EndKind::kWaitStatus, 9);
          }) == "ended without notice, by signal 9 (Killed); its last events were salvaged | complete");
    CHECK(end_of([](TraceBuilder& trace) { trace.end(kStart + 950, abi::EndKind::kWaitStatus, 0, 4000); }) ==
          "ended without notice; the command (pid 4000) ended, exit status 0 | not complete");
    CHECK(end_of([](TraceBuilder& trace) {
              trace.end(kStart + 900);
              trace.end(kStart + 950, abi::EndKind::kWaitStatus, 0, 4242);
          }) == "ended cleanly, exit status 0 | complete");
}

TEST_CASE("zero launches is no complete report of a GPU program without device times") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.end(kStart + 10);
    const auto all = findings_of(trace).completeness;
    CHECK(all.launches.host == 0);
    CHECK_FALSE(all.complete);
    CHECK_THAT(all.reasons.at(0), Catch::Contains("device times were not recorded"));
}

// Totals of a part of a trace: known numbers of a range, a filter, a stream; the whole as a part is the whole.
#include <catch2/catch.hpp>

#include "analysis/passes/compare.hpp"
#include "analysis/passes/condition.hpp"
#include "analysis/passes/part_facts.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Selection;
using analysis::TraceFacts;

namespace {

TraceFacts facts_of(TraceBuilder trace, const Selection& selection, const std::string& words = "a part") {
    const auto model = timeline_of(trace);
    return analysis::part_facts(*model, analysis::select(*model, *model->timeline, selection), selection, words);
}

Selection range(std::int64_t from_ns, std::int64_t to_ns) {
    Selection selection;
    selection.from_ns = from_ns;
    selection.to_ns = to_ns;
    return selection;
}

/// Two streams of one device: 100 ns of "a" on 7, 300 ns of "b" on 8, at the same time; nothing of them is a copy.
TraceBuilder two_streams() {
    TraceBuilder trace = begun_trace();
    for (const auto& [name, stream, duration, correlation] :
         {std::tuple("a", 7U, 100U, 1U), std::tuple("b", 8U, 300U, 2U)}) {
        trace.call({.api = driver_launch(),
                    .begin = kStart + 10 * correlation,
                    .end = kStart + 10 * correlation + 5,
                    .correlation = correlation});
        trace.activity({.name = name,
                        .start = on_device(kStart + 1000),
                        .duration = duration,
                        .correlation = correlation,
                        .stream = stream});
    }
    trace.end(kStart + 10'000);
    return trace;
}

}  // namespace

TEST_CASE("part: the whole as a part has the numbers of the whole") {
    TraceBuilder trace = varied_trace();
    const auto model = timeline_of(trace);
    const TraceFacts whole = analysis::trace_facts(*model, analysis::find_totals(*model));
    Selection all;
    all.from_ns = 0;
    const TraceFacts part = facts_of(varied_trace(), all);
    for (const analysis::Measure& measure : analysis::fixed_measures()) {
        INFO(measure.name);
        if (measure.name != "cpu_time" && measure.name != "unmatched") {
            CHECK(part.value(measure.name) == whole.value(measure.name));
        }
    }
    CHECK(part.kernel_shares == whole.kernel_shares);
    CHECK(part.library_calls.at("cudnn") == whole.library_calls.at("cudnn"));
    CHECK(part.kernels.at("_Z4scalPfi").count == 3);
    CHECK(part.kernels.at("_Z4scalPfi").time_ns == whole.kernels.at("_Z4scalPfi").time_ns);
    CHECK(part.calls.size() == whole.calls.size());
}

TEST_CASE("part: a range of time") {
    // Kernels at 300 to 700, 800 to 900 and 850 to 950, a copy at 500 to 600, a set at 620 to 630; a graph's launch at 220, a
    // blocking copy at 400 to 700; a launch inside cuDNN before the range.
    const TraceFacts part = facts_of(varied_trace(), range(210, 860));
    CHECK(*part.value("wall") == 650);
    CHECK(*part.value("kernel_time") == 600);  // Durations are whole,
    CHECK(*part.value("copy_time") == 110);
    CHECK(*part.value("gpu_time") == 710);
    CHECK(*part.value("busy") == 460);  // unions are cut: 300 to 700, 800 to 860.
    CHECK(*part.value("utilisation") == Approx(460.0 / 650));
    CHECK(*part.value("concurrency") == Approx(580.0 / 460));
    CHECK(*part.value("gpu_span") == 560);
    CHECK(*part.value("kernels") == 3);
    CHECK(*part.value("distinct_kernels") == 1);
    CHECK(*part.value("copies") == 1);
    CHECK(*part.value("copied_bytes") == 4096);
    CHECK(*part.value("launches") == 1);
    CHECK(*part.value("graph_launches") == 1);
    CHECK(*part.value("api_calls") == 2);
    CHECK(*part.value("api_time") == 320);
    CHECK(*part.value("sync_time") == 300);
    CHECK(*part.value("sync_idle") == 0);
    CHECK(*part.value("share.cudnn") == Approx(400.0 / 600));
    CHECK(*part.value("calls.cudnn") == 0);
    CHECK(*part.value("calls.runtime") == 2);
    CHECK(*part.value("lost") == 0);
    CHECK(*part.value("complete") == 1);
    CHECK_FALSE(part.value("cpu_time"));
    CHECK_FALSE(part.value("unmatched"));
}

TEST_CASE("part: kernels by name leave copies out, which are then not known") {
    Selection selection;
    selection.wants_kernel = [](const std::string& name) { return name == "b"; };
    const TraceFacts part = facts_of(two_streams(), selection);
    CHECK(*part.value("gpu_time") == 300);
    CHECK(*part.value("kernels") == 1);
    CHECK(part.kernels.count("a") == 0);
    CHECK_FALSE(part.value("copies"));
    CHECK_FALSE(part.value("copy_time"));
    CHECK(*part.value("launches") == 2);  // Calls are chosen by time alone.
}

TEST_CASE("part: a stream") {
    Selection selection;
    selection.stream = 7;
    const TraceFacts part = facts_of(two_streams(), selection);
    CHECK(*part.value("gpu_time") == 100);
    CHECK(*part.value("busy") == 100);
    CHECK(*part.value("concurrency") == 1);
    CHECK(*part.value("copies") == 0);
}

TEST_CASE("part: a device that did nothing is not busy") {
    Selection selection;
    selection.device = 1;
    const TraceFacts part = facts_of(two_streams(), selection);
    CHECK(*part.value("gpu_time") == 0);
    CHECK(*part.value("utilisation") == 0);
    CHECK_FALSE(part.value("concurrency"));
    CHECK_FALSE(part.value("gpu_span"));
}

TEST_CASE("part: without a clock of the device, what ran in a range is not known, and said") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.thread(0, 100);
    trace.span(kStart, abi::SpanKind::kHost, true);
    trace.span(kStart, abi::SpanKind::kDevice, true);
    trace.call({.api = driver_launch(), .begin = kStart, .end = kStart + 50, .correlation = 1});
    trace.activity({.name = "k", .start = 5'000, .duration = 100, .correlation = 1});
    trace.end(kStart + 1000);
    const TraceFacts part = facts_of(trace, range(0, 500));
    CHECK_FALSE(part.value("gpu_time"));
    CHECK_FALSE(part.value("share.own"));
    CHECK(*part.value("launches") == 1);
    const auto comparison = analysis::compare({{"a", {part}}}, {});
    REQUIRE(comparison.notes.size() >= 2);
    CHECK(comparison.notes[1].find("a: the device's clock is not related to the host's") == 0);
    // A stream alone asks for no time.
    Selection stream;
    stream.stream = 7;
    CHECK(*facts_of(std::move(trace), stream).value("gpu_time") == 100);
}

TEST_CASE("part: the comparison says of what it is, and judges what was selected") {
    const TraceFacts early = facts_of(varied_trace(), range(0, 300), "--to 300ns");
    const TraceFacts late = facts_of(varied_trace(), range(210, 860), "--to 300ns");
    const auto comparison = analysis::compare({{"a", {early}}, {"b", {late}}}, {});
    CHECK(comparison.notes.front() ==
          "a part of each trace is compared: --to 300ns; lost and complete are of the whole recording");
    const auto condition = std::get<analysis::Condition>(analysis::parse_condition("api_calls<4"));
    CHECK(analysis::failures(condition, comparison) == std::vector<std::string>{"api_calls<4: b: 2"});
    TraceFacts other = late;
    other.part = "--steady (from 1 s to 2 s)";
    CHECK(analysis::compare({{"a", {early}}, {"b", {other}}}, {}).notes.front() ==
          "a part of each trace is compared: --steady (from 1 s to 2 s) (b), --to 300ns (a); lost and complete are of "
          "the "
          "whole recording");
}

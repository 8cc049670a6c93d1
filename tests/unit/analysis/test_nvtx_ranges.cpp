// NVTX ranges on the timeline: what was launched inside them.
#include <catch2/catch.hpp>

#include "analysis/passes/nvtx_ranges.hpp"
#include "analysis/views/view.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Range;
using analysis::RangeRow;

namespace {

void launch(TraceBuilder& trace, std::uint64_t at, std::uint64_t correlation, std::uint64_t duration) {
    trace.call({.api = driver_launch(), .begin = kStart + at, .end = kStart + at + 10, .correlation = correlation});
    trace.activity(
        {.name = "k", .start = on_device(kStart + at + 500), .duration = duration, .correlation = correlation});
}

void push(TraceBuilder& trace, std::uint64_t at, std::uint64_t level, std::string_view name) {
    trace.range({.kind = abi::RangeKind::kPush, .ticks = kStart + at, .id = level, .name = std::string(name)});
}

void pop(TraceBuilder& trace, std::uint64_t at, std::uint64_t level) {
    trace.range({.kind = abi::RangeKind::kPop, .ticks = kStart + at, .id = level});
}

std::vector<RangeRow> rows_of(TraceBuilder& trace) {
    const auto model = timeline_of(trace);
    return analysis::range_table(*model, *model->timeline);
}

const RangeRow& row_of(const std::vector<RangeRow>& rows, std::string_view name) {
    for (const RangeRow& row : rows) {
        if (row.name == name) {
            return row;
        }
    }
    FAIL("no range " << name);
    return rows.front();
}

}  // namespace

TEST_CASE("a range holds what its thread launches inside it, and what ranges inside it hold") {
    TraceBuilder trace = begun_trace();
    push(trace, 100, 0, "step");
    launch(trace, 110, 1, 30);
    push(trace, 200, 1, "forward");
    launch(trace, 210, 2, 40);
    launch(trace, 230, 3, 50);
    pop(trace, 300, 1);
    pop(trace, 400, 0);
    launch(trace, 450, 4, 1'000);
    trace.thread(1, 101, "other");
    launch(trace, 250, 5, 2'000);
    trace.end(kStart + 900'000);
    const auto rows = rows_of(trace);
    REQUIRE(rows.size() == 2);
    const RangeRow& step = row_of(rows, "step");
    CHECK(step.count == 1);
    CHECK(step.open == 0);
    CHECK(step.duration.time_ns == 300);
    CHECK(step.launches == 3);
    CHECK(step.kernels == 3);
    CHECK(step.gpu_ns == 120);
    CHECK(step.projected_ns == 730 + 50 - 610);
    const RangeRow& forward = row_of(rows, "forward");
    CHECK(forward.launches == 2);
    CHECK(forward.gpu_ns == 90);
    CHECK(forward.projected_ns == 730 + 50 - 710);
}

TEST_CASE("a start/end range holds the launches of all threads; a mark holds none") {
    TraceBuilder trace = begun_trace();
    trace.range({.kind = abi::RangeKind::kStart, .ticks = kStart + 100, .id = 7, .name = "request"});
    trace.range({.kind = abi::RangeKind::kMark, .ticks = kStart + 150, .name = "moment"});
    launch(trace, 110, 1, 30);
    trace.thread(1, 101, "other");
    launch(trace, 200, 2, 40);
    trace.range({.kind = abi::RangeKind::kEnd, .ticks = kStart + 300, .id = 7});
    launch(trace, 400, 3, 50);
    trace.end(kStart + 900'000);
    const auto rows = rows_of(trace);
    REQUIRE(rows.size() == 2);
    CHECK(row_of(rows, "request").kind == Range::Kind::kStartEnd);
    CHECK(row_of(rows, "request").gpu_ns == 70);
    CHECK(row_of(rows, "moment").duration.timed == 0);
    CHECK(row_of(rows, "moment").launches == 0);
}

TEST_CASE("what PyTorch adds to count its operators makes no row of its own") {
    CHECK(analysis::range_group("aten::mm, seq = 5, op_id = 12") == "aten::mm");
    CHECK(analysis::range_group("aten::mm, op_id = 12") == "aten::mm");
    CHECK(analysis::range_group("aten::mm, seq = five") == "aten::mm, seq = five");
    CHECK(analysis::range_group("epoch 3, batch = 7") == "epoch 3, batch = 7");
    CHECK(analysis::range_group("a, seq = 1 and more") == "a, seq = 1 and more");
    CHECK(analysis::range_group("").empty());
    TraceBuilder trace = begun_trace();
    push(trace, 100, 0, "aten::mm, seq = 5, op_id = 12");
    pop(trace, 150, 0);
    push(trace, 200, 0, "aten::mm, seq = 6, op_id = 13");
    pop(trace, 250, 0);
    trace.end(kStart + 900'000);
    const auto rows = rows_of(trace);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].name == "aten::mm");
    CHECK(rows[0].count == 2);
}

TEST_CASE("ranges of one name are a row; one that never ended ends with the recording") {
    TraceBuilder trace = begun_trace();
    for (const std::uint64_t at : {100U, 300U}) {
        push(trace, at, 0, "step");
        launch(trace, at + 10, at, 20);
        pop(trace, at + 50, 0);
    }
    push(trace, 500, 0, "step");
    trace.end(kStart + 900'000);
    const auto rows = rows_of(trace);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].count == 3);
    CHECK(rows[0].open == 1);
    CHECK(rows[0].gpu_ns == 40);
    CHECK(rows[0].projected_ns == 40);
    CHECK(rows[0].duration.min_ns == 50);
}

TEST_CASE("nvtx: what has no counterpart stands in view completeness") {
    const auto missing = [](TraceBuilder& trace) {
        const auto model = timeline_of(trace);
        const auto tables = analysis::completeness_view({*model, *model->timeline, {}});
        REQUIRE(tables[1].name == "missing");
        return tables[1].rows;
    };
    TraceBuilder trace = begun_trace();
    pop(trace, 100, 3);
    pop(trace, 200, 2);
    push(trace, 300, 0, "whole");
    pop(trace, 400, 0);
    trace.end(kStart + 10'000);
    const auto rows = missing(trace);
    REQUIRE(rows.size() == 1);
    CHECK(std::get<std::uint64_t>(rows[0][0]) == 2);
    CHECK(std::get<std::string>(rows[0][1]) == "begins or ends of NVTX ranges without their counterpart");
    TraceBuilder whole = begun_trace();
    push(whole, 300, 0, "whole");
    pop(whole, 400, 0);
    whole.end(kStart + 10'000);
    CHECK(missing(whole).empty());
}

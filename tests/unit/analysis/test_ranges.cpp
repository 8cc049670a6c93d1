// NVTX ranges: what the reader takes, how beginnings and ends find each other.
#include <catch2/catch.hpp>

#include <span>
#include <string>
#include <vector>

#include "analysis/model/ranges.hpp"
#include "analysis/reader/byte_source.hpp"
#include "analysis/reader/trace_reader.hpp"
#include "analysis/render/call_list.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using abi::RangeKind;
using analysis::Range;

namespace {

class Pairing : public analysis::Visitor {
public:
    analysis::RangePairer pairer;
    std::size_t records = 0;

    void on_range(const analysis::RangeRecord& record) override {
        pairer.add(record);
        ++records;
    }
};

struct Reading {
    analysis::Symbols symbols;
    analysis::ReadSummary summary;
    std::size_t records = 0;
    analysis::RangeList list;

    /// "kind begin-end tid depth domain name", with "..." behind the end of one that is open.
    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> result;
        for (const Range& range : list.ranges) {
            const char* kinds[] = {"push", "start", "mark"};
            result.push_back(std::string(kinds[static_cast<int>(range.kind)]) + " " +
                             std::to_string(range.begin_ticks - kStart) + "-" +
                             std::to_string(range.end_ticks - kStart) + (range.open ? "..." : "") + " " +
                             std::to_string(symbols.threads()[range.thread].tid) + " " + std::to_string(range.depth) +
                             " " + symbols.text(range.domain) + "/" + symbols.text(range.name));
        }
        return result;
    }
};

Reading read(TraceBuilder& trace, std::uint64_t last_ticks = kStart + 1'000) {
    Reading reading;
    const std::string bytes = trace.bytes();
    const analysis::MemorySource source(std::as_bytes(std::span(bytes)));
    Pairing pairing;
    const auto result = analysis::read_trace(source, reading.symbols, pairing);
    REQUIRE(result.ok());
    reading.summary = result.value();
    reading.records = pairing.records;
    reading.list = pairing.pairer.finish(last_ticks);
    return reading;
}

/// Ticks after kStart.
void push(TraceBuilder& trace, std::uint64_t ticks, std::uint64_t level, const std::string& name,
          const std::string& domain = "") {
    trace.range({.kind = RangeKind::kPush, .ticks = kStart + ticks, .id = level, .domain = domain, .name = name});
}
void pop(TraceBuilder& trace, std::uint64_t ticks, std::uint64_t level, const std::string& domain = "") {
    trace.range({.kind = RangeKind::kPop, .ticks = kStart + ticks, .id = level, .domain = domain});
}
void start(TraceBuilder& trace, std::uint64_t ticks, std::uint64_t id, const std::string& name) {
    trace.range({.kind = RangeKind::kStart, .ticks = kStart + ticks, .id = id, .name = name});
}
void end(TraceBuilder& trace, std::uint64_t ticks, std::uint64_t id) {
    trace.range({.kind = RangeKind::kEnd, .ticks = kStart + ticks, .id = id});
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("pushes and pops nest by thread and domain") {
    TraceBuilder trace = begun_trace();
    push(trace, 10, 0, "outer");
    push(trace, 20, 0, "all reduce", "NCCL");
    push(trace, 30, 1, "inner");
    trace.thread(1, 101);
    push(trace, 15, 0, "other");
    trace.thread(0, 100);
    pop(trace, 40, 0, "NCCL");
    pop(trace, 50, 1);
    push(trace, 60, 1, "inner");
    pop(trace, 70, 1);
    pop(trace, 80, 0);
    trace.thread(1, 101);
    pop(trace, 90, 0);
    const Reading reading = read(trace);
    CHECK_FALSE(reading.summary.partial());
    CHECK(reading.lines() == Lines{"push 10-80 100 0 /outer", "push 15-90 101 0 /other",
                                   "push 20-40 100 0 NCCL/all reduce", "push 30-50 100 1 /inner",
                                   "push 60-70 100 1 /inner"});
    CHECK(reading.list.missing_pushes == 0);
    CHECK(reading.list.missing_pops == 0);
}

TEST_CASE("starts and ends are paired by id, over threads and in either order of the file") {
    TraceBuilder trace = begun_trace();
    start(trace, 10, 1, "first");
    end(trace, 30, 2);
    end(trace, 40, 7);
    trace.thread(1, 101);
    start(trace, 20, 2, "second");
    start(trace, 21, 2, "second");
    end(trace, 50, 1);
    end(trace, 55, 1);
    start(trace, 60, 3, "third");
    trace.range({.kind = RangeKind::kMark, .ticks = kStart + 70, .domain = "d", .name = "mark"});
    const Reading reading = read(trace);
    CHECK(reading.lines() == Lines{"start 10-50 100 0 /first", "start 20-30 101 0 /second",
                                   "start 60-1000... 101 0 /third", "mark 70-70 101 0 d/mark"});
    CHECK(reading.list.missing_starts == 2);
}

TEST_CASE("ranges that never end are open to the end of the trace") {
    TraceBuilder trace = begun_trace();
    push(trace, 10, 0, "outer");
    push(trace, 20, 1, "inner");
    CHECK(read(trace).lines() == Lines{"push 10-1000... 100 0 /outer", "push 20-1000... 100 1 /inner"});
    CHECK(read(trace, kStart + 15).lines() == Lines{"push 10-15... 100 0 /outer", "push 20-20... 100 1 /inner"});
}

TEST_CASE("ranges may begin before the recording") {
    TraceBuilder trace = begun_trace();
    trace.range({.kind = RangeKind::kPush, .ticks = kStart - 500, .id = 3, .name = "outer"});
    pop(trace, 10, 3);
    const Reading reading = read(trace);
    REQUIRE(reading.list.ranges.size() == 1);
    CHECK(reading.list.ranges[0].duration_ticks() == 510);
    CHECK(reading.list.ranges[0].depth == 0);
}

TEST_CASE("what has no counterpart is counted") {
    TraceBuilder trace = begun_trace();
    pop(trace, 5, 4);
    push(trace, 10, 0, "outer");
    pop(trace, 15, 2);
    push(trace, 20, 1, "its pop is missing");
    push(trace, 30, 1, "next");
    push(trace, 40, 2, "its pop is missing too");
    pop(trace, 50, 0);
    pop(trace, 60, 0);
    const Reading reading = read(trace);
    CHECK(reading.lines() == Lines{"push 10-50 100 0 /outer", "push 20-30 100 1 /its pop is missing",
                                   "push 30-50 100 1 /next", "push 40-50 100 2 /its pop is missing too"});
    CHECK(reading.list.missing_pushes == 3);
    CHECK(reading.list.missing_pops == 3);
}

TEST_CASE("levels at the end of their numbers") {
    TraceBuilder trace = begun_trace();
    push(trace, 10, ~0ULL, "deepest");
    pop(trace, 20, ~0ULL);
    push(trace, 30, 0, "outer");
    pop(trace, 5, 0);  // Ends before it begins.
    const Reading reading = read(trace);
    REQUIRE(reading.list.ranges.size() == 2);
    CHECK(reading.list.ranges[1].duration_ticks() == 0);
}

TEST_CASE("range records that break the format, and kinds of a later version") {
    const auto record = [](std::uint64_t kind, std::uint64_t depth, std::uint64_t domain, std::uint64_t name) {
        return varint(kind) + varint(depth) + svarint(5) + varint(0) + varint(domain) + varint(name);
    };
    const auto read_with = [](const std::string& fields) {
        TraceBuilder trace = begun_trace();
        push(trace, 10, 0, "text 1");
        trace.record(abi::Tag::kRange, fields);
        pop(trace, 20, 0);
        return read(trace);
    };
    CHECK(read_with(record(4, 255, 1, 1)).records == 3);
    CHECK(read_with(record(4, 255, 1, 1) + "later fields").records == 3);
    CHECK(read_with(record(4, 256, 1, 1)).summary.bad_records == 1);
    const Reading later = read_with(record(5, 0, 1, 1));
    CHECK(later.summary.unknown_records == 1);
    CHECK(later.lines() == Lines{"push 10-25 100 0 /text 1"});  // The unknown one's time is read: it is 5 later.
    for (const std::string& unreadable : {record(4, 0, 2, 1), record(4, 0, 1, 2), varint(4) + varint(0)}) {
        const Reading reading = read_with(unreadable);
        CHECK(reading.summary.bad_records == 1);
        CHECK(reading.summary.orphan_records == 1);  // The pop: its time is relative to what was not read.
        CHECK(reading.records == 1);
    }
    TraceBuilder nobody;
    nobody.range({.kind = RangeKind::kMark, .ticks = 1});
    CHECK(read(nobody).summary.bad_records == 1);
}

TEST_CASE("times of ranges and of calls do not depend on each other") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = device_sync(), .begin = kStart + 100, .end = kStart + 101});
    push(trace, 10, 0, "outer");
    trace.call({.api = device_sync(), .begin = kStart + 200, .end = kStart + 201});
    pop(trace, 300, 0);
    trace.new_segment();
    trace.thread(0, 100);
    push(trace, 400, 0, "next");
    CHECK(read(trace).lines() == Lines{"push 10-300 100 0 /outer", "push 400-1000... 100 0 /next"});
}

TEST_CASE("the list of calls has ranges in between") {
    TraceBuilder trace = begun_trace();
    push(trace, 1'000, 0, "outer");
    push(trace, 1'100, 0, "sum", "NCCL");
    trace.range({.kind = RangeKind::kMark, .depth = 1, .ticks = kStart + 1'200, .name = "a \"mark\"\n"});
    trace.call({.api = device_sync(), .begin = kStart + 1'150, .end = kStart + 1'650});
    pop(trace, 2'000, 0, "NCCL");
    start(trace, 2'100, 9, "step");
    end(trace, 2'200, 9);
    pop(trace, 3'000, 0);
    const std::string bytes = trace.bytes();
    const analysis::MemorySource source(std::as_bytes(std::span(bytes)));
    std::string text;
    REQUIRE(analysis::list_calls(source, [&text](std::string_view lines) {
                text += lines;
                return true;
            }).ok());
    CHECK(text ==
          "   0.000001000      100             nvtxRangePush(\"outer\") = 0\n"
          "   0.000001100      100             nvtxDomainRangePush(\"NCCL\", \"sum\") = 0\n"
          "   0.000001200      100               nvtxMark(\"a \"mark\"?\")\n"
          "   0.000001150      100     500 ns  cudaDeviceSynchronize() = 0\n"
          "   0.000002000      100             nvtxDomainRangePop(\"NCCL\") = 0\n"
          "   0.000002100      100             nvtxRangeStart(\"step\") = 9\n"
          "   0.000002200      100             nvtxRangeEnd(9)\n"
          "   0.000003000      100             nvtxRangePop() = 0\n");
}

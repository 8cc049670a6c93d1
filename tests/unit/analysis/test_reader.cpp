// The reader: what it takes, what it refuses, what it skips and says so.
#include <catch2/catch.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "analysis/reader/byte_source.hpp"
#include "analysis/reader/cursor.hpp"
#include "analysis/reader/trace_reader.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::ExitCode;

namespace {

/// Notes what comes.
class Recorder : public analysis::Visitor {
public:
    std::vector<analysis::CallRecord> calls;
    std::vector<analysis::ActivityRecord> activities;
    std::vector<std::string> notices, infos;
    analysis::ProcessRecord process;
    std::size_t blocks = 0;

    void on_block(const analysis::BlockInfo&) override { ++blocks; }
    void on_process(const analysis::ProcessRecord& record) override { process = record; }
    void on_call(const analysis::CallRecord& call) override { calls.push_back(call); }
    void on_activity(const analysis::ActivityRecord& record) override { activities.push_back(record); }
    void on_notice(std::uint64_t, std::string_view text) override { notices.emplace_back(text); }
    void on_info(std::string_view key, std::string_view value) override {
        infos.push_back(std::string(key) + "=" + std::string(value));
    }
};

struct Reading {
    Recorder seen;
    analysis::Symbols symbols;
    analysis::Result<analysis::ReadSummary> result = analysis::Fault{};
};

std::unique_ptr<Reading> read(std::string_view bytes) {
    auto reading = std::make_unique<Reading>();
    const analysis::MemorySource source(std::as_bytes(std::span(bytes)));
    reading->result = analysis::read_trace(source, reading->symbols, reading->seen);
    return reading;
}

analysis::Fault fault_of(std::string_view bytes) {
    const auto reading = read(bytes);
    REQUIRE_FALSE(reading->result.ok());
    return reading->result.fault();
}

}  // namespace

TEST_CASE("varints: bounds") {
    for (const std::uint64_t value : {0ULL, 1ULL, 127ULL, 128ULL, 16'383ULL, 16'384ULL, ~0ULL, ~0ULL >> 1}) {
        const std::string bytes = varint(value);
        analysis::Cursor cursor(bytes);
        CHECK(cursor.varint() == value);
        CHECK(cursor.ok());
        CHECK(cursor.at_end());
    }
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{63}, INT64_MAX, INT64_MIN}) {
        const std::string bytes = svarint(value);
        analysis::Cursor cursor(bytes);
        CHECK(cursor.svarint() == value);
    }
    for (const std::string& bad : {std::string(), std::string("\x80"), std::string(10, '\xff'),
                                   std::string(9, '\xff') + '\x02', std::string(11, '\x80') + '\0'}) {
        analysis::Cursor cursor(bad);
        CHECK(cursor.varint() == 0);
        CHECK_FALSE(cursor.ok());
    }
    const std::string too_wide = varint(1ULL << 32);
    analysis::Cursor cursor(too_wide);
    cursor.varint32();
    CHECK_FALSE(cursor.ok());
    const std::string overlong = varint(5) + "abc";
    analysis::Cursor text(overlong);
    CHECK(text.string().empty());
    CHECK_FALSE(text.ok());
}

TEST_CASE("records are read as they were written") {
    TraceBuilder trace = varied_trace();
    const auto reading = read(trace.bytes());
    REQUIRE(reading->result.ok());
    const analysis::ReadSummary& summary = reading->result.value();
    CHECK_FALSE(summary.partial());
    CHECK(summary.blocks == 4);
    CHECK(summary.unknown_records == 0);
    CHECK(summary.start_ticks == kStart);

    const Recorder& seen = reading->seen;
    CHECK(seen.process.pid == 4242);
    CHECK(seen.process.rank == -1);
    CHECK(seen.process.host == "node-a");
    CHECK(seen.process.argv == std::vector<std::string>{"python", "train.py"});
    CHECK(seen.process.environment == std::vector<std::string>{"CUDA_VISIBLE_DEVICES=0"});
    REQUIRE(seen.calls.size() == 6);
    const analysis::CallRecord& launch = seen.calls[0];
    CHECK(reading->symbols.api(launch.api).name == "cuLaunchKernel");
    CHECK(launch.depth == 2);
    CHECK(launch.begin_ticks == kStart + 110);
    CHECK(launch.end_ticks == kStart + 150);
    CHECK(launch.correlation == 1);
    CHECK(launch.function == 0xf1);
    CHECK(seen.calls[2].caller == 0x1500);
    CHECK(seen.calls[3].graph_exec == 0xe1);
    CHECK(seen.calls[3].correlation == 2);
    CHECK(reading->symbols.threads()[seen.calls[4].thread].tid == 101);
    CHECK(seen.calls[4].copy_bytes == 4096);
    CHECK(seen.calls[4].begin_ticks == kStart + 400);
    REQUIRE(seen.activities.size() == 5);
    CHECK(reading->symbols.text(seen.activities[2].name) == "_Z4scalPfi");
    CHECK(seen.activities[2].graph_node == 1);
    CHECK(seen.activities[2].start_ns == on_device(kStart + 850));
    CHECK(seen.activities[3].kind == analysis::ActivityKind::kMemcpy);
    CHECK(seen.activities[3].bytes == 4096);
    CHECK(seen.activities[4].kind == analysis::ActivityKind::kMemset);
    CHECK(seen.notices == std::vector<std::string>{"a notice"});
    CHECK(seen.infos == std::vector<std::string>{"driver_version=13.0"});
}

TEST_CASE("what is no trace is refused with its reason") {
    std::mt19937 random(7);
    std::string noise(5000, '\0');
    for (char& byte : noise) {
        byte = static_cast<char>(random());
    }
    TraceBuilder trace = varied_trace();
    const std::string good = trace.bytes();
    TraceBuilder newer = varied_trace();
    newer.header.major = 2;
    TraceBuilder feature = varied_trace();
    feature.header.required_features = 4;

    struct Case {
        const char* what;
        std::string bytes;
        ExitCode code;
        const char* says;
    };
    const std::vector<Case> cases = {
        {"empty", "", ExitCode::kNotATrace, "is empty"},
        {"text", "hello, world\n", ExitCode::kNotATrace, "is not a gpuspy trace"},
        {"long text", std::string(4096, 'x'), ExitCode::kNotATrace, "is not a gpuspy trace"},
        {"noise", noise, ExitCode::kNotATrace, "is not a gpuspy trace"},
        {"half a magic", good.substr(0, 4), ExitCode::kNotATrace, "cut off inside its header"},
        {"half a header", good.substr(0, 40), ExitCode::kNotATrace, "cut off inside its header"},
        {"header records cut", good.substr(0, 70), ExitCode::kNotATrace, "cut off inside its header"},
        {"newer major", newer.bytes(), ExitCode::kNewerVersion,
         "made by a newer gpuspy: format 2.x, this one reads 1.x"},
        {"newer feature", feature.bytes(), ExitCode::kNewerVersion, "mask 0x4"},
    };
    for (const Case& bad : cases) {
        INFO(bad.what);
        const analysis::Fault fault = fault_of(bad.bytes);
        CHECK(fault.code == bad.code);
        CHECK_THAT(fault.message, Catch::Contains(bad.says));
    }
}

TEST_CASE("files that cannot be opened") {
    const auto missing = analysis::open_file("/nonexistent/trace.bin");
    REQUIRE_FALSE(missing.ok());
    CHECK(missing.fault().code == ExitCode::kCannotOpen);
    CHECK_THAT(missing.fault().message, Catch::Contains("No such file"));
    const auto directory = analysis::open_file("/tmp");
    REQUIRE_FALSE(directory.ok());
    CHECK(directory.fault().code == ExitCode::kCannotOpen);
    CHECK_THAT(directory.fault().message, Catch::Contains("directory"));
    const auto device = analysis::open_file("/dev/null");
    REQUIRE_FALSE(device.ok());
    CHECK(device.fault().code == ExitCode::kCannotOpen);
}

TEST_CASE("a header alone is a trace without events") {
    TraceBuilder trace;
    const auto reading = read(trace.header_bytes());
    REQUIRE(reading->result.ok());
    CHECK_FALSE(reading->result.value().partial());
    CHECK(reading->result.value().blocks == 0);
}

TEST_CASE("a newer minor version: unknown tags and appended fields are skipped") {
    TraceBuilder trace = begun_trace();
    trace.header.minor = 7;
    trace.record(61, "whatever");
    trace.record(1ULL << 40, "");
    trace.record(abi::Tag::kNotice, varint(kStart) + text_field("read me") + "and some later field");
    const auto reading = read(trace.bytes());
    REQUIRE(reading->result.ok());
    CHECK(reading->result.value().unknown_records == 2);
    CHECK_FALSE(reading->result.value().partial());
    CHECK(reading->seen.notices == std::vector<std::string>{"read me"});
}

TEST_CASE("a damaged block is skipped and the rest of its segment's calls with it") {
    TraceBuilder trace;
    for (int segment = 0; segment < 2; ++segment) {
        for (int block = 0; block < 3; ++block) {
            trace.thread(0, 100);
            trace.call({.api = device_sync(), .begin = kStart, .end = kStart + 1});
            trace.notice(kStart, "in every block");
            trace.end_block();
        }
        trace.new_segment();
    }
    const std::string good = trace.bytes();
    const std::vector<std::size_t> ends = trace.block_ends();
    CHECK(read(good)->seen.calls.size() == 6);

    std::string bad = good;
    bad[ends[0] + 60] = static_cast<char>(bad[ends[0] + 60] ^ 1);  // In the payload of the second block.
    const auto reading = read(bad);
    REQUIRE(reading->result.ok());
    const analysis::ReadSummary& summary = reading->result.value();
    CHECK(summary.partial());
    CHECK(summary.bad_blocks == 1);
    CHECK(summary.skipped_bytes == ends[1] - ends[0]);
    CHECK(summary.missing_blocks == 0);
    CHECK(summary.orphan_records == 1);  // The call of the third block.
    CHECK(reading->seen.calls.size() == 1 + 3);
    CHECK(reading->seen.notices.size() == 5);

    // The same block gone without a trace.
    const auto shorter = read(good.substr(0, ends[0]) + good.substr(ends[1]));
    REQUIRE(shorter->result.ok());
    CHECK(shorter->result.value().missing_blocks == 1);
    CHECK(shorter->result.value().orphan_records == 1);

    // A whole segment gone from the middle, and from the front: the latter is how a trace is cut.
    TraceBuilder three;
    std::vector<std::size_t> starts;
    for (int segment = 0; segment < 3; ++segment) {
        three.notice(kStart, "one");
        three.new_segment();
    }
    const std::string whole = three.bytes();
    const std::vector<std::size_t> cuts = three.block_ends();
    CHECK(read(whole.substr(0, cuts[0]) + whole.substr(cuts[1]))->result.value().missing_blocks == 1);
    CHECK_FALSE(read(three.header_bytes() + whole.substr(cuts[0]))->result.value().partial());
}

TEST_CASE("garbage between blocks and a false block start in it") {
    TraceBuilder trace;
    trace.notice(kStart, "first");
    trace.new_segment();
    trace.notice(kStart, "second");
    const std::string good = trace.bytes();
    const std::size_t cut = trace.block_ends()[0];
    std::string false_start = "GBLK" + std::string(36, '\0') + "xxGBLKGBL";
    const auto reading = read(good.substr(0, cut) + false_start + good.substr(cut));
    REQUIRE(reading->result.ok());
    CHECK(reading->result.value().bad_blocks == 1);
    CHECK(reading->result.value().skipped_bytes == false_start.size());
    CHECK(reading->seen.notices == std::vector<std::string>{"first", "second"});
}

TEST_CASE("a damaged header leaves the blocks readable") {
    TraceBuilder trace = varied_trace();
    for (const std::size_t at : {16UL, 45UL, 80UL}) {  // header_bytes, start_ticks, a header record
        std::string bytes = trace.bytes();
        bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
        const auto reading = read(bytes);
        INFO(at);
        if (!reading->result.ok()) {
            CHECK(reading->result.fault().code == ExitCode::kNotATrace);
            continue;
        }
        CHECK(reading->result.value().header_damaged);
        CHECK(reading->seen.calls.size() == 6);
    }
}

TEST_CASE("decompression bombs and sizes that lie") {
    TraceBuilder trace;
    trace.notice(kStart, std::string(1000, 'a'));
    const std::string good = trace.bytes();
    const std::size_t block = trace.header_bytes().size();
    const auto with_raw_bytes = [&](std::uint32_t raw) {
        std::string bytes = good;
        std::memcpy(bytes.data() + block + offsetof(abi::BlockHeader, raw_bytes), &raw, sizeof raw);
        return bytes;
    };
    // The checksum guards the sizes; without it, they are checked by themselves.
    for (const std::uint32_t raw : {0U, 1U, 1002U, abi::kMaxBlockRawBytes, abi::kMaxBlockRawBytes + 1, ~0U}) {
        const std::string bytes = with_raw_bytes(raw);
        const analysis::MemorySource source(std::as_bytes(std::span(bytes)));
        analysis::Symbols symbols;
        Recorder seen;
        const auto result = analysis::read_trace(source, symbols, seen, {.verify_checksums = false});
        INFO(raw);
        REQUIRE(result.ok());
        CHECK(result.value().partial());
        CHECK(seen.notices.empty());
    }
}

TEST_CASE("a sound block that is larger than any may be is not decompressed") {
    TraceBuilder trace;
    for (int i = 0; i < 9; ++i) {
        trace.notice(kStart, std::string(1'000'000, 'a'));
    }
    const auto reading = read(trace.bytes());
    REQUIRE(reading->result.ok());
    CHECK(reading->result.value().partial());
    CHECK(reading->seen.notices.empty());
}

TEST_CASE("records that break the format are skipped and counted") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = device_sync(), .begin = kStart, .end = kStart + 1});
    trace.record(abi::Tag::kNotice, varint(kStart) + varint(1000) + "short");
    trace.record(abi::Tag::kAnchor, varint(1));
    trace.record(abi::Tag::kApi, varint(5) + varint(9) + varint(0) + varint(0) + text_field("x") + text_field("y"));
    trace.notice(kStart, "goes on");
    const auto reading = read(trace.bytes());
    REQUIRE(reading->result.ok());
    CHECK(reading->result.value().bad_records == 3);
    CHECK(reading->seen.calls.size() == 1);
    CHECK(reading->seen.notices == std::vector<std::string>{"goes on"});
}

TEST_CASE("calls that refer to what is not there") {
    const auto call_fields = [](std::uint64_t api, std::uint64_t depth, const std::string& rest, std::uint64_t flags) {
        return varint(flags) + varint(api) + varint(depth) + svarint(0) + varint(0) + rest;
    };
    const auto bad_after = [&](const std::string& fields) {
        TraceBuilder trace = begun_trace();
        trace.call({.api = device_sync(), .begin = kStart, .end = kStart + 1});  // api number 100
        trace.record(abi::Tag::kCall, fields);
        return read(trace.bytes())->result.value().bad_records;
    };
    CHECK(bad_after(call_fields(100, 3, "", 0)) == 0);
    CHECK(bad_after(call_fields(101, 0, "", 0)) == 1);                                        // api
    CHECK(bad_after(call_fields(100, 256, "", 0)) == 1);                                      // depth
    CHECK(bad_after(call_fields(100, 0, varint(9), abi::kCallCaller)) == 1);                  // value
    CHECK(bad_after(call_fields(100, 0, "", abi::kCallKernel)) == 1);                         // too short
    CHECK(bad_after(varint(0) + varint(100) + varint(0) + svarint(0) + varint(~0ULL)) == 1);  // end before begin

    TraceBuilder nobody;
    nobody.record(abi::Tag::kApi,
                  varint(100) + varint(1) + varint(5) + varint(1) + text_field("runtime") + text_field("f"));
    nobody.record(abi::Tag::kCall, call_fields(100, 0, "", 0));
    CHECK(read(nobody.bytes())->result.value().bad_records == 1);  // no thread

    TraceBuilder text = begun_trace();
    text.record(abi::Tag::kKernel, varint(0) + varint(0) + varint(0) + varint(0) + svarint(1) + svarint(1) + varint(1) +
                                       varint(17) + std::string(9, '\0'));
    CHECK(read(text.bytes())->result.value().bad_records == 1);  // text
}

TEST_CASE("after an unreadable call the thread's later calls are not guessed") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = device_sync(), .begin = kStart, .end = kStart + 1});
    trace.record(abi::Tag::kCall, "\x80");
    trace.call({.api = device_sync(), .begin = kStart + 10, .end = kStart + 11});
    trace.thread(1, 101);
    trace.call({.api = device_sync(), .begin = kStart + 20, .end = kStart + 21});
    trace.new_segment();
    trace.thread(0, 100);
    trace.call({.api = device_sync(), .begin = kStart + 30, .end = kStart + 31});
    const auto reading = read(trace.bytes());
    REQUIRE(reading->result.ok());
    CHECK(reading->result.value().bad_records == 1);
    CHECK(reading->result.value().orphan_records == 1);
    REQUIRE(reading->seen.calls.size() == 3);
    CHECK(reading->seen.calls[1].begin_ticks == kStart + 20);
    CHECK(reading->seen.calls[2].begin_ticks == kStart + 30);
}

// Kept arguments: their fields, the table of communication, the list of calls.
#include <algorithm>
#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/reader/arguments.hpp"
#include "analysis/reader/byte_source.hpp"
#include "analysis/render/call_list.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::match_arguments;
using analysis::parse_argument_fields;

namespace {

Api nccl(const std::string& name, const std::string& fields, abi::ApiClass api_class = abi::ApiClass::kCollective) {
    return {name, "nccl", abi::ApiLevel::kLibrary, api_class, 0, fields};
}

Api all_reduce() {
    return nccl("ncclAllReduce", "count:2w datatype:3i op:4i comm:5p stream:6s");
}
Api init_rank() {
    return nccl("ncclCommInitRank", "comm:0* nranks:1i rank:2i", abi::ApiClass::kCommunicator);
}

constexpr std::int64_t kFloat32 = 7;
constexpr std::int64_t kBfloat16 = 9;

}  // namespace

TEST_CASE("fields of kept arguments: names, arrays, no streams") {
    const auto fields = parse_argument_fields("comm:0* n:1@2i _:7!1-3 _:8=202 stream:3s buf:4#5 sum:9x10@2i last:6l");
    REQUIRE(fields.size() == 5);
    CHECK(fields[0].name == "comm");
    CHECK(fields[1].type == '@');
    CHECK(fields[1].element_type == 'i');
    CHECK(fields[4].name == "last");

    const std::vector<std::int64_t> words = {77, 3, 10, 20, 30, 1, 0x1234, 99, -5};
    const auto arguments = match_arguments(fields, words);
    REQUIRE(arguments.size() == 5);
    CHECK(analysis::find_argument(arguments, "sum") == 99);
    CHECK(analysis::find_argument(arguments, "comm") == 77);
    CHECK(arguments[1].words.size() == 3);
    CHECK(arguments[1].words[2] == 30);
    CHECK(arguments[2].words[0] == 0x1234);
    CHECK(analysis::find_argument(arguments, "last") == -5);
    CHECK(analysis::find_argument(arguments, "n") == std::nullopt);
    CHECK(analysis::find_argument(arguments, "absent") == std::nullopt);
}

TEST_CASE("fields that make no sense, and words that are missing, give what there is") {
    CHECK(parse_argument_fields("").empty());
    CHECK(parse_argument_fields("name").empty());
    CHECK(parse_argument_fields("name:i").empty());
    CHECK(parse_argument_fields("a:1i b:2? c:3i").size() == 1);
    const auto fields = parse_argument_fields("a:0i n:1@2i");
    CHECK(match_arguments(fields, {}).empty());
    const std::vector<std::int64_t> too_many_said = {1, 5, 2};
    CHECK(match_arguments(fields, too_many_said).size() == 1);
    const std::vector<std::int64_t> negative = {1, -1};
    CHECK(match_arguments(fields, negative).size() == 1);
}

TEST_CASE("communication: bytes by call, type and communicator; the rank of each communicator") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = init_rank(), .begin = kStart + 10, .end = kStart + 20, .arguments = {0x500, 8, 3}});
    for (std::uint64_t i = 0; i < 3; ++i) {
        trace.call({.api = all_reduce(),
                    .begin = kStart + 100 + i * 10,
                    .end = kStart + 105 + i * 10,
                    .arguments = {1'000, kFloat32, 0, 0x500}});
    }
    trace.call(
        {.api = all_reduce(), .begin = kStart + 200, .end = kStart + 207, .arguments = {1'000, kBfloat16, 0, 0x600}});
    trace.call({.api = all_reduce(),
                .begin = kStart + 300,
                .end = kStart + 301,
                .status = 5,
                .arguments = {1'000, kFloat32, 0, 0x500}});
    trace.call({.api = nccl("ncclGroupEnd", ""), .begin = kStart + 400, .end = kStart + 401});
    const auto rows = findings_of(trace).collectives;
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "ncclAllReduce");
    CHECK(rows[0].datatype == "Float32");
    CHECK(rows[0].bytes == 12'000);  // 3 x 1,000 x 4; the failed one moved nothing
    CHECK(rows[0].count == 4);
    CHECK(rows[0].failed == 1);
    CHECK(rows[0].host_ns == 16);
    CHECK(rows[0].communicator == 1);
    CHECK(rows[0].rank == 3);
    CHECK(rows[0].ranks == 8);
    CHECK(rows[1].datatype == "Bfloat16");
    CHECK(rows[1].bytes == 2'000);
    CHECK(rows[1].communicator == 2);
    CHECK(rows[1].rank == -1);
}

TEST_CASE("the rank of a communicator: by the names of each call, and not one of before a split") {
    TraceBuilder trace = begun_trace();
    const auto reduce = [&trace](std::uint64_t begin, std::int64_t communicator) {
        trace.call({.api = all_reduce(),
                    .begin = kStart + begin,
                    .end = kStart + begin + 5,
                    .arguments = {1'000, kFloat32, 0, communicator}});
    };
    const Api scalable =
        nccl("ncclCommInitRankScalable", "newcomm:0* nranks:1i myrank:2i", abi::ApiClass::kCommunicator);
    const Api grow = nccl("ncclCommGrow", "comm:0w nRanks:1i rank:3i newcomm:4*", abi::ApiClass::kCommunicator);
    const Api split = nccl("ncclCommSplit", "comm:0w color:1i key:2i newcomm:3*", abi::ApiClass::kCommunicator);
    trace.call({.api = scalable, .begin = kStart + 10, .end = kStart + 11, .arguments = {0x500, 8, 3}});
    trace.call({.api = grow, .begin = kStart + 20, .end = kStart + 21, .arguments = {0x500, 9, 4, 0x600}});
    trace.call({.api = init_rank(), .begin = kStart + 30, .end = kStart + 31, .arguments = {0x700, 2, 1}});
    trace.call({.api = split, .begin = kStart + 40, .end = kStart + 41, .arguments = {0x500, 0, 0, 0x700}});
    reduce(100, 0x500);
    reduce(110, 0x600);
    reduce(120, 0x700);
    std::vector<std::pair<std::int64_t, std::int64_t>> ranks;
    for (const auto& row : findings_of(trace).collectives) {
        ranks.emplace_back(row.rank, row.ranks);
    }
    std::sort(ranks.begin(), ranks.end());
    CHECK(ranks == std::vector<std::pair<std::int64_t, std::int64_t>>{{-1, -1}, {3, 8}, {4, 9}});
}

TEST_CASE("a collective that is made of others counts once") {
    TraceBuilder trace = begun_trace();
    const std::vector<std::int64_t> arguments = {10, kFloat32, 0, 0x500};
    const Api send = nccl("ncclSend", "count:1w datatype:2i peer:3i comm:4w");
    const Api all_to_all = nccl("ncclAlltoAll", "count:2w datatype:3i comm:4w");
    trace.call({.api = send, .begin = kStart + 11, .end = kStart + 12, .depth = 1, .arguments = arguments});
    trace.call({.api = send, .begin = kStart + 13, .end = kStart + 14, .depth = 1, .arguments = arguments});
    trace.call({.api = all_to_all, .begin = kStart + 10, .end = kStart + 15, .arguments = {10, kFloat32, 0x500}});
    trace.call({.api = send, .begin = kStart + 20, .end = kStart + 21, .arguments = arguments});
    const auto rows = findings_of(trace).collectives;
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "ncclAlltoAll");
    CHECK(rows[0].count == 1);
    CHECK(rows[1].name == "ncclSend");
    CHECK(rows[1].count == 1);
    CHECK(rows[1].bytes == 40);
}

TEST_CASE("a collective inside a call that is none counts, whatever collective comes after it") {
    TraceBuilder trace = begun_trace();
    const std::vector<std::int64_t> arguments = {10, kFloat32, 0, 0x500};
    trace.call({.api = all_reduce(), .begin = kStart + 11, .end = kStart + 12, .depth = 1, .arguments = arguments});
    trace.call({.api = cublas("cublasSgemm_v2"), .begin = kStart + 10, .end = kStart + 13});
    trace.call({.api = all_reduce(), .begin = kStart + 20, .end = kStart + 21, .arguments = arguments});
    const auto rows = findings_of(trace).collectives;
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].count == 2);
    CHECK(rows[0].bytes == 80);
}

TEST_CASE("the list of calls: one a line, inner calls first and indented") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(),
                .begin = kStart + 2'000,
                .end = kStart + 3'000,
                .depth = 1,
                .function = 0xf00,
                .stream = 0x10});
    trace.call({.api = cublas("cublasSgemm_v2"), .begin = kStart + 1'000, .end = kStart + 5'000, .caller = 0x1100});
    trace.call({.api = {"cudaMalloc", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kMemory, abi::kApiBlocking,
                        "devPtr:0* size:1w"},
                .begin = kStart + 6'000,
                .end = kStart + 6'500,
                .status = 2,
                .arguments = {0, 4096}});
    trace.call({.api = {"cublasSdot", "cublas", abi::ApiLevel::kLibrary, abi::ApiClass::kLibrary, abi::kApiNoStatus,
                        "n:0i dims:1@2i"},
                .begin = kStart + 7'000,
                .end = kStart + 7'100,
                .arguments = {-3, 2, 5, 6}});
    const std::string bytes = trace.bytes();
    const analysis::MemorySource source(std::as_bytes(std::span(bytes)));
    std::string text;
    const auto result = analysis::list_calls(source, [&text](std::string_view lines) {
        text += lines;
        return true;
    });
    REQUIRE(result.ok());
    CHECK(text ==
          "   0.000002000      100   1.000 us    cuLaunchKernel(function=0xf00, stream=0x10) = 0\n"
          "   0.000001000      100   4.000 us  cublasSgemm_v2() = 0  <- libtorch_cuda.so\n"
          "   0.000006000      100     500 ns  cudaMalloc(devPtr=0x0, size=4096) = 2\n"
          "   0.000007000      100     100 ns  cublasSdot(n=-3, dims=[5 6])\n");
}

TEST_CASE("the list of calls stops when nobody reads on") {
    TraceBuilder trace = begun_trace();
    for (std::uint64_t i = 0; i < 40'000; ++i) {
        trace.call({.api = device_sync(), .begin = kStart + 10 * i, .end = kStart + 10 * i + 5});
    }
    const std::string bytes = trace.bytes();
    const analysis::MemorySource source(std::as_bytes(std::span(bytes)));
    int times = 0;
    REQUIRE(analysis::list_calls(source, [&times](std::string_view) { return ++times < 1; }).ok());
    CHECK(times == 1);
}

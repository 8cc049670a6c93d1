// kineto's JSON of scripted timelines.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "analysis/export/kineto/json_rows.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"
#include "tests/unit/export/exported.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using nlohmann::json;

namespace {

std::string kineto_of(TraceBuilder& trace) {
    return exported(analysis::export_kineto, *timeline_of(trace));
}

std::vector<json> rows_of(const std::string& text, const std::string& category) {
    std::vector<json> rows;
    const json trace = json::parse(text);
    for (const json& row : trace["traceEvents"]) {
        if (row.value("cat", "") == category && row["ph"] == "X") {
            rows.push_back(row);
        }
    }
    return rows;
}

/// A runtime launch around a driver launch, and the kernel of the latter.
TraceBuilder one_launch(const std::string& kernel = "k") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(), .begin = kStart + 1100, .end = kStart + 1900, .depth = 1, .correlation = 1});
    trace.call({.api = runtime_launch(), .begin = kStart + 1000, .end = kStart + 2500, .caller = 0x1100});
    trace.activity({.name = kernel, .start = on_device(kStart + 3001), .duration = 4002, .correlation = 1});
    trace.end(kStart + 900'000);
    return trace;
}

}  // namespace

TEST_CASE("a launch and its kernel have one id; the driver's part of it no row", "[export]") {
    TraceBuilder trace = one_launch();
    const std::string text = kineto_of(trace);
    const auto runtime = rows_of(text, "cuda_runtime");
    const auto kernels = rows_of(text, "kernel");
    REQUIRE(runtime.size() == 1);
    REQUIRE(kernels.size() == 1);
    CHECK(rows_of(text, "cuda_driver").empty());
    CHECK(runtime[0]["name"] == "cudaLaunchKernel");
    CHECK(runtime[0]["args"]["correlation"] == kernels[0]["args"]["correlation"]);
    CHECK(runtime[0]["pid"] == 4242);
    CHECK(runtime[0]["tid"] == 100);
    CHECK(runtime[0]["args"]["owner"] == "libtorch_cuda.so");
    CHECK_FALSE(runtime[0]["args"].contains("stream"));
    CHECK(kernels[0]["pid"] == 0);
    CHECK(kernels[0]["tid"] == 7);
    CHECK(kernels[0]["args"]["stream"] == 7);
    CHECK(kernels[0]["args"]["grid"] == json({2, 1, 1}));
    // us since the beginning, which is the first anchor's.
    CHECK(text.find(R"("ts": 1.000, "dur": 1.500)") != std::string::npos);
    CHECK(text.find(R"("ts": 3.001, "dur": 4.002)") != std::string::npos);
}

TEST_CASE("records of ids that came again, and without a call, have ids of their own", "[export]") {
    TraceBuilder trace = begun_trace();
    const Api copy{"cudaMemcpyAsync", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy};
    for (const std::uint64_t at : {kStart + 100, kStart + 500}) {
        trace.call({.api = copy, .begin = at, .end = at + 10, .correlation = 4, .copy_bytes = 64});
        trace.activity({.tag = abi::Tag::kMemcpy,
                        .start = on_device(at + 20),
                        .duration = 32,
                        .correlation = 4,
                        .bytes = 64,
                        .copy_kind = 1});
    }
    trace.activity({.name = "alone", .start = on_device(kStart + 700), .duration = 5, .correlation = 99});
    trace.end(kStart + 900'000);
    const std::string text = kineto_of(trace);
    const auto calls = rows_of(text, "cuda_runtime");
    const auto copies = rows_of(text, "gpu_memcpy");
    const auto kernels = rows_of(text, "kernel");
    REQUIRE(calls.size() == 2);
    REQUIRE(copies.size() == 2);
    REQUIRE(kernels.size() == 1);
    const auto id = [](const json& row) { return row["args"]["correlation"].get<int>(); };
    CHECK(id(calls[0]) == id(copies[0]));
    CHECK(id(calls[1]) == id(copies[1]));
    CHECK(id(calls[0]) != id(calls[1]));
    CHECK(id(kernels[0]) != id(calls[0]));
    CHECK(id(kernels[0]) != id(calls[1]));
    CHECK(copies[0]["name"] == "Memcpy HtoD (Pageable -> Device)");
    CHECK(copies[0]["args"]["bytes"] == 64);
    CHECK(copies[0]["args"]["memory bandwidth (GB/s)"] == 2.0);
}

TEST_CASE("kernels of a stream that overlap have rows under tids of their own, and the stream in both", "[export]") {
    TraceBuilder trace = begun_trace();
    trace.activity({.name = "a", .start = on_device(kStart + 100), .duration = 50, .correlation = 1});
    trace.activity({.name = "b", .start = on_device(kStart + 120), .duration = 50, .correlation = 2});
    trace.activity({.name = "c", .start = on_device(kStart + 120), .duration = 50, .correlation = 3, .stream = 8});
    trace.end(kStart + 900'000);
    const auto kernels = rows_of(kineto_of(trace), "kernel");
    REQUIRE(kernels.size() == 3);
    CHECK(kernels[0]["tid"] == 7);
    CHECK(kernels[1]["tid"] == 9);  // Above every stream.
    CHECK(kernels[2]["tid"] == 8);
    CHECK(kernels[1]["args"]["stream"] == 7);
}

TEST_CASE("a rank is told with the space that readers look for, and only where it is known", "[export]") {
    TraceBuilder trace = one_launch();
    CHECK(kineto_of(trace).find("\"rank\"") == std::string::npos);
    TraceBuilder ranked = begun_trace();
    ranked.header.rank = 3;
    ranked.end(kStart + 900'000);
    CHECK(kineto_of(ranked).find("\"distributedInfo\": {\"rank\": 3}") != std::string::npos);
}

TEST_CASE("a name that is not UTF-8 leaves valid JSON", "[export]") {
    TraceBuilder trace = one_launch("bad\xff\"name\n");
    const auto kernels = rows_of(kineto_of(trace), "kernel");  // parse() throws for what is not UTF-8.
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0]["name"].get<std::string>().find("\"name") != std::string::npos);
}

TEST_CASE("numbers are ones that readers can take", "[export]") {
    CHECK(analysis::kineto::microseconds(1'234'567) == "1234.567");
    CHECK(analysis::kineto::microseconds(5) == "0.005");
    CHECK(analysis::kineto::microseconds(-1'002) == "-1.002");
    CHECK(analysis::kineto::integer(7) == 7);
    CHECK(analysis::kineto::integer(UINT64_MAX) == INT64_MAX);
}

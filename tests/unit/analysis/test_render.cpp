// What a person and a program get to read.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>

#include "analysis/render/display_text.hpp"
#include "analysis/render/json.hpp"
#include "analysis/render/text.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using namespace gpuspy::analysis;

namespace {

std::size_t characters(const std::string& line) {
    std::size_t count = 0;
    for (const char c : line) {
        count += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U ? 1 : 0;
    }
    return count;
}

void check_lines(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(characters(line) <= 100);
        CHECK(printable(line) == line);
    }
}

}  // namespace

TEST_CASE("durations, bytes, counts, shares") {
    CHECK(duration_text(0) == "0 ns");
    CHECK(duration_text(999) == "999 ns");
    CHECK(duration_text(1'000) == "1.000 us");
    CHECK(duration_text(12'345) == "12.35 us");
    CHECK(duration_text(999'949) == "999.9 us");
    CHECK(duration_text(999'950) == "1.000 ms");
    CHECK(duration_text(123'456'789) == "123.5 ms");
    CHECK(duration_text(5'000'000'000'000) == "5000.0 s");
    CHECK(bytes_text(1'023) == "1023 B");
    CHECK(bytes_text(1'536) == "1.500 KiB");
    CHECK(bytes_text(1ULL << 40) == "1.000 TiB");
    CHECK(bytes_text(~0ULL) == "16.00 EiB");
    CHECK(count_text(0) == "0");
    CHECK(count_text(999) == "999");
    CHECK(count_text(1'000) == "1,000");
    CHECK(count_text(1'234'567) == "1,234,567");
    CHECK(percent_text(0.1234) == "12.3 %");
}

TEST_CASE("text that is harmful to a terminal") {
    CHECK(printable("plain \xc2\xb5s \xf0\x9f\x98\x80") == "plain \xc2\xb5s \xf0\x9f\x98\x80");
    CHECK(printable("a\x1b[31m\n\tb\x7f") == "a?[31m??b?");
    CHECK(printable("\xc2\x9b"
                    "31m") == "?31m");  // C1: an escape in one character
    CHECK(printable("a\xe2\x80\xae"
                    "b") == "a?b");  // right-to-left override
    const std::string replacement = "\xef\xbf\xbd";
    CHECK(printable("\xff") == replacement);
    CHECK(printable("\xc0\xaf") == replacement + replacement);                    // overlong
    CHECK(printable("\xed\xa0\x80") == replacement + replacement + replacement);  // surrogate
    CHECK(printable("a\xe2\x82") == "a" + replacement + replacement);             // cut off
    CHECK(printable("\xf4\x90\x80\x80").size() == 4 * replacement.size());        // above U+10FFFF
}

TEST_CASE("cut in the middle") {
    CHECK(cut_middle("short", 10) == "short");
    CHECK(cut_middle("0123456789", 10) == "0123456789");
    CHECK(cut_middle("0123456789a", 10) == "01234\u2026789a");
    CHECK(characters(cut_middle(std::string(50, 'x') + "\xc2\xb5" + std::string(50, 'y'), 20)) == 20);
    CHECK(cut_middle("abc", 1) == "\u2026");
    CHECK(cut_middle("abc", 0).empty());
}

TEST_CASE("demangled") {
    CHECK(demangled("_Z4scalPfi") == "scal(float*, int)");
    CHECK(demangled("sm90_xmma_gemm") == "sm90_xmma_gemm");
    CHECK(demangled("_Znonsense") == "_Znonsense");
    CHECK(demangled("") == "");
    const std::string endless = "_Z" + std::string(100'000, 'P');
    CHECK(demangled(endless) == endless);
}

TEST_CASE("the text report: sections in order, 100 columns") {
    TraceBuilder trace = varied_trace();
    const std::string text = render_text(findings_of(trace), "trace.bin", {});
    check_lines(text);
    std::size_t at = 0;
    for (const char* section : {"gpuspy report of trace.bin",
                                "What ran",
                                "python train.py",
                                "pid 4242 on node-a",
                                "NVIDIA H200",
                                "driver 13.0",
                                "wall time",
                                "ended cleanly",
                                "Completeness",
                                "complete: 3",
                                "Time",
                                "GPU time, kernels",
                                "GPU 0 busy",
                                "concurrency",
                                "API time",
                                "CPU time",
                                "Synchronisation time",
                                "Kernels",
                                "cudnn",
                                "scal(float*, int)",
                                "GPU time by owner",
                                "Calls",
                                "cudnnConvolutionForward",
                                "Synchronisation",
                                "Copies",
                                "HtoD",
                                "What gpuspy cost"}) {
        const std::size_t found = text.find(section, at);
        INFO(section << "\n" << text);
        REQUIRE(found != std::string::npos);
        at = found;
    }
}

TEST_CASE("names from a hostile trace stay on their lines") {
    TraceBuilder trace = begun_trace();
    trace.header.argv = {"evil\x1b]0;title\x07\nname", std::string(500, 'a'), "\xff\xfe"};
    const std::string name = std::string("bad\n\x1b[2Jname\xff") + std::string(3'000, 'z');
    trace.object(kStart, 0x8000, 0x9000, "/x/lib\x1b[1mowner\n" + std::string(200, 'o') + ".so");
    trace.device(0, "GPU\r\n" + std::string(300, 'g'));
    trace.notice(kStart, "notice\n" + std::string(300, 'n'));
    trace.info("driver_version", std::string(300, '9'));
    trace.call({.api = {std::string("call\n") + std::string(300, 'c'), std::string(40, 'l'), abi::ApiLevel::kRuntime,
                        abi::ApiClass::kLaunch, abi::kApiBlocking},
                .begin = kStart + 1,
                .end = kStart + 2,
                .correlation = 1,
                .caller = 0x8500,
                .status = 5});
    trace.call({.api = runtime_launch(), .begin = kStart + 3, .end = kStart + 4, .correlation = 2, .caller = 0x8500});
    trace.activity({.name = name, .start = on_device(kStart + 10), .duration = 5, .correlation = 2});
    trace.activity({.name = name, .start = on_device(kStart + 20), .duration = 5, .correlation = 3});
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    check_lines(render_text(findings, "dir/\x1b[31m/trace.bin", {}));
    const auto json = nlohmann::json::parse(render_json(findings, {}));
    CHECK(json["kernels"].size() == 2);
}

TEST_CASE("huge numbers stay in their columns") {
    TraceBuilder trace = begun_trace();
    trace.block_ticks(kStart + 90'000'000'000'000);
    for (std::uint64_t i = 0; i < 3; ++i) {
        trace.call({.api = runtime_launch(),
                    .begin = kStart + 20'000'000'000'000 * i,
                    .end = kStart + 20'000'000'000'000 * i + 9'999'000'000'000,
                    .correlation = 1 + i});
        trace.activity(
            {.name = "k", .start = on_device(kStart + 1'000), .duration = 9'999'900'000'000, .correlation = 1 + i});
        trace.activity({.tag = abi::Tag::kMemcpy,
                        .start = on_device(kStart + 5),
                        .duration = 9'000'000'000'000,
                        .bytes = 1ULL << 60,
                        .copy_kind = 10});
    }
    trace.loss(abi::LossCause::kWriteFailed, ~0ULL >> 1);
    trace.end(kStart + 80'000'000'000'000);
    check_lines(render_text(findings_of(trace), "trace.bin", {}));
}

TEST_CASE("the option --top cuts tables and says so") {
    TraceBuilder trace = begun_trace();
    for (std::uint64_t i = 0; i < 30; ++i) {
        trace.activity({.name = "kernel" + std::to_string(i),
                        .start = on_device(kStart + 100 * i),
                        .duration = 10 + i,
                        .correlation = i});
    }
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK_THAT(render_text(findings, "t", {}), Catch::Contains("... and 10 more (--top 0 shows all)"));
    CHECK_THAT(render_text(findings, "t", {.top = 3}), Catch::Contains("... and 27 more"));
    CHECK_THAT(render_text(findings, "t", {.top = 0}), !Catch::Contains("more (--top"));
    CHECK(nlohmann::json::parse(render_json(findings, {}))["kernels"].size() == 30);
    CHECK(nlohmann::json::parse(render_json(findings, {.top = 4}))["kernels"].size() == 4);
}

TEST_CASE("zero launches are said loudly, with likely reasons") {
    TraceBuilder nothing;
    nothing.header.start_ticks = kStart;
    const std::string quiet = render_text(findings_of(nothing), "t", {});
    CHECK_THAT(quiet, Catch::Contains("NO KERNEL LAUNCH WAS RECORDED"));
    CHECK_THAT(quiet, Catch::Contains("no CUDA call"));
    CHECK_THAT(quiet, Catch::Contains("trace.<pid>.bin"));
    TraceBuilder copies = begun_trace();
    copies.call({.api = device_sync(), .begin = kStart, .end = kStart + 1});
    copies.activity({.name = "k", .start = on_device(kStart + 100), .duration = 10, .correlation = 1});
    copies.end(kStart + 900);
    const std::string text = render_text(findings_of(copies), "t", {});
    CHECK_THAT(text, Catch::Contains("NO KERNEL LAUNCH WAS RECORDED"));
    CHECK_THAT(text, Catch::Contains("by a route that gpuspy does not see"));
    TraceBuilder some = varied_trace();
    CHECK_THAT(render_text(findings_of(some), "t", {}), !Catch::Contains("NO KERNEL LAUNCH"));
    // A file that is cut off in its first block says nothing of what was recorded.
    const std::string whole = some.bytes();
    const std::string cut = whole.substr(0, some.block_ends().front() - 1);
    const std::string partial = render_text(findings_of(cut), "t", {});
    CHECK_THAT(partial, Catch::Contains("the part of the trace that holds the launches cannot be read"));
    CHECK_THAT(partial, Catch::Contains("whether device times were recorded is not known"));
    CHECK_THAT(partial, !Catch::Contains("device times were not recorded: host calls only"));
}

TEST_CASE("not complete: the causes with numbers and the kernels concerned") {
    TraceBuilder trace = begun_trace();
    trace.name(kStart, 0xf1, "_Z4lostv");
    trace.call({.api = runtime_launch(), .begin = kStart + 3, .end = kStart + 4, .correlation = 2, .function = 0xf1});
    trace.loss(abi::LossCause::kCuptiDropped, 1'234);
    trace.end(kStart + 900);
    const std::string text = render_text(findings_of(trace), "t", {});
    CHECK_THAT(text, Catch::Contains("NOT COMPLETE"));
    CHECK_THAT(text, Catch::Contains("1 kernel launch has no device record"));
    CHECK_THAT(text, Catch::Contains("1234 device records that CUPTI says it dropped"));
    CHECK_THAT(text, Catch::Contains("lost()"));
}

TEST_CASE("a partial reading is said at the top") {
    TraceBuilder trace = varied_trace();
    const std::string bytes = trace.bytes();
    const std::string text = render_text(findings_of(bytes.substr(0, bytes.size() - 3)), "t", {});
    CHECK_THAT(text.substr(0, 200), Catch::Contains("PARTIAL"));
}

TEST_CASE("the JSON report has every field of its schema") {
    TraceBuilder trace = varied_trace();
    const auto json = nlohmann::json::parse(render_json(findings_of(trace), {}));
    CHECK(json["schema"] == 1);
    CHECK(json["wall_ns"] == 1'000'000);
    CHECK(json["gpu"]["time_ns"] == 710);
    CHECK(json["gpu"]["kernel_time_ns"] == 600);
    CHECK(json["gpu"]["busy_ns"] == 550);
    CHECK(json["gpu"]["concurrency"].get<double>() == Approx(710.0 / 550));
    CHECK(json["gpu"]["devices"].size() == 1);
    CHECK(json["gpu"]["devices"][0]["name"] == "NVIDIA H200");
    for (const char* field : {"host", "captured", "failed", "graph_launches", "graph_nodes", "expected",
                              "device_records", "untimed", "unmatched_launches", "unmatched_records", "not_returned"}) {
        INFO(field);
        CHECK(json["launches"][field].is_number_unsigned());
    }
    CHECK(json["launches"]["dropped"] == nlohmann::json{{"unmapped_pointer", 3}});
    CHECK(json["launches"]["complete"] == true);
    CHECK(json["api"]["time_ns"] == 520);
    CHECK(json["cpu"]["user_ns"] == 900);
    CHECK(json["cpu"]["system_ns"] == 100);
    CHECK(json["sync"]["time_ns"] == 400);
    CHECK(json["sync"]["share_of_wall"].get<double>() == Approx(0.0004));
    CHECK(json["sync"]["calls"].size() == 2);
    const auto& kernel = json["kernels"][0];
    CHECK(kernel["name"] == "scal(float*, int)");
    CHECK(kernel["mangled"] == "_Z4scalPfi");
    CHECK(kernel["library"] == "cudnn");
    CHECK(kernel["owner"] == "cudnn");
    CHECK(json["kernels"][1]["library"].is_null());
    for (const char* field : {"count", "time_ns", "avg_ns", "med_ns", "min_ns", "max_ns"}) {
        CHECK(kernel[field].is_number_unsigned());
    }
    CHECK(json["calls"].size() == 6);
    CHECK(json["copies"][0] == nlohmann::json{{"direction", "HtoD"},
                                              {"count", 1},
                                              {"bytes", 4096},
                                              {"timed", 1},
                                              {"time_ns", 100},
                                              {"avg_ns", 100},
                                              {"med_ns", 100},
                                              {"med_exact", true},
                                              {"min_ns", 100},
                                              {"max_ns", 100},
                                              {"gb_per_s", 40.96}});
    CHECK(json["process"]["pid"] == 4242);
    CHECK(json["process"]["argv"] == nlohmann::json{"python", "train.py"});
    CHECK(json["overhead"]["total_ns"] == 157);
    CHECK(json["reading"]["partial"] == false);
}

TEST_CASE("the JSON report: what has no time is null, not 0") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.thread(0, 100);
    trace.name(kStart, 0xf1, "k");
    trace.call({.api = driver_launch(), .begin = kStart, .end = kStart + 50, .caller = 0x5100, .function = 0xf1});
    trace.call({.api = {"cudaMemcpy", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy, abi::kApiBlocking},
                .begin = kStart + 100,
                .end = kStart + 200,
                .copy_bytes = 64,
                .copy_kind = 1});
    trace.end(kStart + 1000);
    const auto json = nlohmann::json::parse(render_json(findings_of(trace), {}));
    REQUIRE(json["kernels"].size() == 1);
    const auto& kernel = json["kernels"][0];
    CHECK(kernel["count"] == 1);
    CHECK(kernel["timed"] == 0);
    for (const char* field : {"time_ns", "avg_ns", "med_ns", "min_ns", "max_ns", "share_of_kernels", "share_of_wall"}) {
        INFO(field);
        CHECK(kernel[field].is_null());
    }
    REQUIRE(json["owners"].size() == 1);
    CHECK(json["owners"][0]["time_ns"].is_null());
    CHECK(json["owners"][0]["share_of_kernels"].is_null());
    REQUIRE(json["copies"].size() == 1);
    CHECK(json["copies"][0]["bytes"] == 64);
    CHECK(json["copies"][0]["gb_per_s"].is_null());
    CHECK(json["calls"][0]["time_ns"] == 100);  // Calls have times of their own.
}

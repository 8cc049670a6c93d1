// What counts as a launch, whose it is, and how it is matched.
#include <catch2/catch.hpp>

#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Findings;

namespace {

/// A launch by the runtime from `caller` at `at`, with a driver launch inside it that carries the correlation id.
void launch(TraceBuilder& trace, std::uint64_t at, std::uint64_t correlation, std::uint64_t caller = 0x5500,
            std::uint32_t depth = 0) {
    trace.call({.api = driver_launch(),
                .begin = at + 2,
                .end = at + 8,
                .depth = depth + 1,
                .correlation = correlation,
                .caller = 0x9999});
    trace.call({.api = runtime_launch(), .begin = at, .end = at + 10, .depth = depth, .caller = caller});
}

void kernel(TraceBuilder& trace, const std::string& name, std::uint64_t at, std::uint64_t duration,
            std::uint64_t correlation) {
    trace.activity({.name = name, .start = on_device(at), .duration = duration, .correlation = correlation});
}

}  // namespace

TEST_CASE("a launch seen at two levels counts once") {
    TraceBuilder trace = begun_trace();
    launch(trace, kStart + 100, 1);
    kernel(trace, "k", kStart + 200, 50, 1);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    const auto& launches = findings.completeness.launches;
    CHECK(launches.host == 1);
    CHECK(launches.expected == 1);
    CHECK(launches.matched == 1);
    CHECK(findings.completeness.complete);
    CHECK(findings.calls.size() == 2);
}

TEST_CASE("several driver launches inside one runtime call count each, one at the driver alone too") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(), .begin = kStart + 10, .end = kStart + 12, .depth = 1, .correlation = 1});
    trace.call({.api = driver_launch(), .begin = kStart + 13, .end = kStart + 15, .depth = 1, .correlation = 2});
    trace.call({.api = runtime_launch(), .begin = kStart + 9, .end = kStart + 20, .caller = 0x5500});
    trace.call({.api = driver_launch(), .begin = kStart + 30, .end = kStart + 35, .correlation = 3, .caller = 0x1500});
    for (const std::uint64_t correlation : {1, 2, 3}) {
        kernel(trace, "k", kStart + 100 * correlation, 50, correlation);
    }
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.launches.host == 3);
    CHECK(findings.completeness.complete);
    CHECK(kernel_row(findings, "k", "app").count == 2);
    CHECK(kernel_row(findings, "k", "libtorch_cuda.so").count == 1);
}

TEST_CASE("ownership: the outermost library call, else the object of the outermost caller") {
    TraceBuilder trace = begun_trace();
    // cublas inside cudnn, both around a launch.
    launch(trace, kStart + 20, 1, 0x9000, 2);
    trace.call({.api = cublas("cublasSgemm"), .begin = kStart + 15, .end = kStart + 40, .depth = 1, .caller = 0x9100});
    trace.call({.api = cudnn("cudnnRNNForward"), .begin = kStart + 10, .end = kStart + 50, .caller = 0x1100});
    launch(trace, kStart + 120, 2, 0x1100, 1);
    trace.call({.api = cublas("cublasSgemm"), .begin = kStart + 110, .end = kStart + 140, .caller = 0x1100});
    launch(trace, kStart + 200, 3, 0x1100);
    launch(trace, kStart + 300, 4, 0x5100);
    launch(trace, kStart + 400, 5, 0xdead0000);
    launch(trace, kStart + 500, 6, 0);
    for (std::uint64_t correlation = 1; correlation <= 6; ++correlation) {
        kernel(trace, "k" + std::to_string(correlation), kStart + 1'000 * correlation, 100 * correlation, correlation);
    }
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    REQUIRE(findings.kernels.size() == 6);
    CHECK(kernel_row(findings, "k1").owner == "cudnn");
    CHECK(kernel_row(findings, "k1").library == "cudnn");
    CHECK(kernel_row(findings, "k2").library == "cublas");
    CHECK(kernel_row(findings, "k3").library.empty());
    CHECK(kernel_row(findings, "k3").owner == "libtorch_cuda.so");
    CHECK(kernel_row(findings, "k4").owner == "app");
    CHECK(kernel_row(findings, "k5").owner == "unknown");
    CHECK(kernel_row(findings, "k6").owner == "unknown");

    REQUIRE(findings.libraries.size() == 5);
    CHECK(findings.libraries[0].owner == "unknown");
    CHECK(findings.libraries[0].time_ns == 1'100);
    CHECK(findings.libraries[0].kernels == 2);
    CHECK(findings.libraries[0].share_of_kernels == Approx(1'100.0 / 2'100));
    CHECK(findings.libraries[1].owner == "app");
    CHECK(findings.libraries.back().owner == "cudnn");
    CHECK(findings.libraries.back().library == "cudnn");
}

TEST_CASE("ownership goes by the objects that were mapped at the time") {
    TraceBuilder trace = begun_trace();
    launch(trace, kStart + 100, 1, 0x7500);
    launch(trace, kStart + 300, 2, 0x7500);
    trace.object(kStart + 50, 0x7000, 0x8000, "/lib/old.so");
    trace.object(kStart + 200, 0x7000, 0x8000, "/lib/new.so");
    kernel(trace, "k", kStart + 400, 10, 1);
    kernel(trace, "k", kStart + 500, 30, 2);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(kernel_row(findings, "k", "old.so").duration.time_ns == 10);
    CHECK(kernel_row(findings, "k", "new.so").duration.time_ns == 30);
}

TEST_CASE("a launch that only CUPTI saw: counted, owner unknown, or the library around it") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(),
                .begin = kStart + 10,
                .end = kStart + 11,
                .correlation = 1,
                .caller = 0x1500,
                .flags = abi::kCallUnhooked});
    trace.call({.api = driver_launch(),
                .begin = kStart + 30,
                .end = kStart + 31,
                .depth = 1,
                .correlation = 2,
                .flags = abi::kCallUnhooked});
    trace.call({.api = cudnn("cudnnAddTensor"), .begin = kStart + 20, .end = kStart + 40, .caller = 0x1500});
    kernel(trace, "a", kStart + 100, 10, 1);
    kernel(trace, "b", kStart + 200, 10, 2);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.complete);
    CHECK(findings.completeness.launches.host == 2);
    CHECK(findings.completeness.launches.unhooked == 2);
    CHECK(kernel_row(findings, "a").owner == "unknown");
    CHECK(kernel_row(findings, "b").owner == "cudnn");
}

TEST_CASE("records may come before their launch") {
    TraceBuilder trace = begun_trace();
    kernel(trace, "k", kStart + 200, 50, 1);
    trace.end_block();
    trace.thread(0, 100);
    launch(trace, kStart + 100, 1);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.complete);
    CHECK(kernel_row(findings, "k").owner == "app");
}

TEST_CASE("one record withheld and one invented: both appear, by kernel") {
    TraceBuilder trace = begun_trace();
    trace.name(kStart, 0xf1, "lost_kernel");
    for (std::uint64_t correlation = 1; correlation <= 10; ++correlation) {
        trace.call({.api = driver_launch(),
                    .begin = kStart + 10 * correlation,
                    .end = kStart + 10 * correlation + 5,
                    .correlation = correlation,
                    .function = correlation == 4 ? 0xf1UL : 0xf2UL});
        if (correlation != 4) {
            kernel(trace, "k", kStart + 100 + 10 * correlation, 5, correlation);
        }
    }
    kernel(trace, "invented", kStart + 500, 5, 77);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    const auto& all = findings.completeness;
    CHECK_FALSE(all.complete);
    CHECK(all.launches.expected == 10);
    CHECK(all.launches.device_records == 10);
    CHECK(all.launches.matched == 9);
    CHECK(all.launches.unmatched_launches == 1);
    CHECK(all.launches.unmatched_records == 1);
    REQUIRE(all.unmatched.size() == 2);
    CHECK(all.unmatched[0].mangled == "invented");
    CHECK(all.unmatched[0].records == 1);
    CHECK(all.unmatched[0].launches == 0);
    CHECK(all.unmatched[1].mangled == "lost_kernel");
    CHECK(all.unmatched[1].launches == 1);
    CHECK(kernel_row(findings, "invented").owner == "unknown");
}

TEST_CASE("the same correlation id twice") {
    TraceBuilder trace = begun_trace();
    SECTION("two launches, one record") {
        launch(trace, kStart + 100, 5);
        launch(trace, kStart + 200, 5);
        kernel(trace, "k", kStart + 300, 50, 5);
        trace.end(kStart + 900);
        const auto launches = findings_of(trace).completeness.launches;
        CHECK(launches.expected == 2);
        CHECK(launches.matched == 1);
        CHECK(launches.unmatched_launches == 1);
        CHECK(launches.unmatched_records == 0);
    }
    SECTION("one launch, two records") {
        launch(trace, kStart + 100, 5);
        kernel(trace, "k", kStart + 300, 50, 5);
        kernel(trace, "k", kStart + 400, 50, 5);
        trace.end(kStart + 900);
        const auto launches = findings_of(trace).completeness.launches;
        CHECK(launches.matched == 1);
        CHECK(launches.unmatched_launches == 0);
        CHECK(launches.unmatched_records == 1);
    }
    SECTION("two of each: in order") {
        launch(trace, kStart + 100, 5, 0x1500);
        kernel(trace, "a", kStart + 300, 50, 5);
        launch(trace, kStart + 200, 5, 0x5500);
        kernel(trace, "b", kStart + 400, 50, 5);
        trace.end(kStart + 900);
        const Findings findings = findings_of(trace);
        CHECK(findings.completeness.complete);
        CHECK(kernel_row(findings, "a").owner == "libtorch_cuda.so");
        CHECK(kernel_row(findings, "b").owner == "app");
    }
}

TEST_CASE("captured and failed launches are not expected on the device") {
    TraceBuilder trace = begun_trace();
    launch(trace, kStart + 100, 1);
    kernel(trace, "k", kStart + 200, 50, 1);
    trace.call({.api = runtime_launch(),
                .begin = kStart + 300,
                .end = kStart + 310,
                .launch_id = 1,
                .flags = abi::kCallCaptured});
    trace.call({.api = driver_launch(), .begin = kStart + 401, .end = kStart + 402, .depth = 1, .status = 700});
    trace.call({.api = runtime_launch(), .begin = kStart + 400, .end = kStart + 410, .status = 700});
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    const auto& launches = findings.completeness.launches;
    CHECK(launches.host == 3);
    CHECK(launches.captured == 1);
    CHECK(launches.failed == 1);
    CHECK(launches.expected == 1);
    CHECK(findings.completeness.complete);
    CHECK(findings.calls[0].failed + findings.calls[1].failed == 2);
}

TEST_CASE("launches made while device times were off") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.anchor(kStart, kStart + kHostOffset, on_device(kStart));
    trace.anchor(kStart + 1'000'000, kStart + 1'000'000 + kHostOffset, on_device(kStart + 1'000'000));
    trace.span(kStart, abi::SpanKind::kHost, true);
    trace.name(kStart, 0xf1, "k");
    trace.thread(0, 100);
    // Off before the first span, on, off again.
    trace.call({.api = runtime_launch(), .begin = kStart + 10, .end = kStart + 20, .function = 0xf1});
    trace.span(kStart + 50, abi::SpanKind::kDevice, true);
    trace.call({.api = runtime_launch(), .begin = kStart + 60, .end = kStart + 70, .correlation = 1, .function = 0xf1});
    trace.span(kStart + 100, abi::SpanKind::kDevice, false, "taken by another tool");
    trace.call({.api = runtime_launch(),
                .begin = kStart + 110,
                .end = kStart + 120,
                .function = 0xf1,
                .flags = abi::kCallUntimed});
    // It has an id and a record came all the same.
    trace.call({.api = runtime_launch(),
                .begin = kStart + 130,
                .end = kStart + 140,
                .correlation = 2,
                .function = 0xf1,
                .flags = abi::kCallUntimed});
    // It has an id and none came.
    trace.call({.api = runtime_launch(),
                .begin = kStart + 150,
                .end = kStart + 160,
                .correlation = 3,
                .function = 0xf1,
                .flags = abi::kCallUntimed});
    kernel(trace, "k", kStart + 80, 30, 1);
    kernel(trace, "k", kStart + 145, 10, 2);
    trace.span(kStart + 900, abi::SpanKind::kHost, false, "end of recording");
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    const auto& launches = findings.completeness.launches;
    CHECK(launches.host == 5);
    CHECK(launches.untimed == 4);
    CHECK(launches.expected == 1);
    CHECK(launches.matched == 1);
    CHECK(launches.matched_beyond == 1);
    CHECK(launches.unmatched_launches == 0);
    CHECK(launches.unmatched_records == 0);
    CHECK_FALSE(findings.completeness.complete);
    const auto& row = kernel_row(findings, "k");
    CHECK(row.count == 5);
    CHECK(row.duration.timed == 2);
    CHECK(row.duration.time_ns == 40);
    // Not the one after the last call.
    REQUIRE(findings.run.notices.size() == 1);
    CHECK_THAT(findings.run.notices[0], Catch::Contains("taken by another tool"));
}

TEST_CASE("host-only: kernels are counted by their launches and named by their handles") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.anchor(kStart, kStart + kHostOffset);
    trace.span(kStart, abi::SpanKind::kHost, true);
    trace.thread(0, 100);
    trace.name(kStart, 0xf1, "first");
    trace.name(kStart + 500, 0xf1, "second");  // The handle is given out again.
    for (const std::uint64_t at : {10, 20, 30, 600, 610}) {
        trace.call({.api = runtime_launch(), .begin = kStart + at, .end = kStart + at + 5, .function = 0xf1});
    }
    trace.call({.api = runtime_launch(), .begin = kStart + 700, .end = kStart + 705, .function = 0xf9});
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.launches.untimed == 6);
    CHECK(findings.completeness.launches.unmatched_launches == 0);
    CHECK_FALSE(findings.completeness.device_times);
    CHECK_FALSE(findings.completeness.complete);
    CHECK(kernel_row(findings, "first").count == 3);
    CHECK(kernel_row(findings, "second").count == 2);
    CHECK(kernel_row(findings, "(name not known)").count == 1);
    CHECK(kernel_row(findings, "first").duration.timed == 0);
}

TEST_CASE("a timed launch without a correlation id is unmatched") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = runtime_launch(), .begin = kStart + 10, .end = kStart + 20, .caller = 0x5500});
    trace.end(kStart + 900);
    const auto launches = findings_of(trace).completeness.launches;
    CHECK(launches.expected == 1);
    CHECK(launches.unmatched_launches == 1);
    CHECK(launches.without_correlation == 1);
}

TEST_CASE("a library call that CUPTI saw launching has its kernels") {
    TraceBuilder trace = begun_trace();
    trace.call(
        {.api = cublas("cublasSgemm"), .begin = kStart + 10, .end = kStart + 20, .correlation = 9, .caller = 0x1500});
    kernel(trace, "gemm", kStart + 100, 10, 9);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.completeness.complete);
    CHECK(findings.completeness.launches.matched_beyond == 1);
    CHECK(kernel_row(findings, "gemm").owner == "cublas");
}

TEST_CASE("cooperative multi-device launches: one call, several kernels") {
    const Api multi{"cuLaunchCooperativeKernelMultiDevice", "driver", abi::ApiLevel::kDriver, abi::ApiClass::kMulti};
    TraceBuilder trace = begun_trace();
    trace.call({.api = multi, .begin = kStart + 10, .end = kStart + 20, .correlation = 1, .caller = 0x5500});
    kernel(trace, "k", kStart + 100, 10, 1);
    kernel(trace, "k", kStart + 100, 10, 1);
    trace.call({.api = multi, .begin = kStart + 30, .end = kStart + 40, .correlation = 2, .caller = 0x5500});
    trace.end(kStart + 900);
    const auto launches = findings_of(trace).completeness.launches;
    CHECK(launches.host == 2);
    CHECK(launches.expected == 2);
    CHECK(launches.matched == 1);
    CHECK(launches.matched_beyond == 1);
    CHECK(launches.unmatched_launches == 1);
}

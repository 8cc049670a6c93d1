// Waits: by site, by thread, one by one; what the devices did meanwhile; what waits without being asked to.
#include <catch2/catch.hpp>

#include "analysis/model/selection.hpp"
#include "analysis/passes/default_stream.hpp"
#include "analysis/passes/sync.hpp"
#include "analysis/passes/sync_sites.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::WaitKind;

namespace {

Api runtime_malloc() {
    return {"cudaMalloc", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kMemory, abi::kApiBlocking};
}
Api driver_malloc() {
    return {"cuMemAlloc_v2", "driver", abi::ApiLevel::kDriver, abi::ApiClass::kMemory, abi::kApiBlocking};
}
Api runtime_copy() {
    return {"cudaMemcpyAsync", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy};
}
Api driver_copy() {
    return {"cuMemcpyHtoDAsync_v2", "driver", abi::ApiLevel::kDriver, abi::ApiClass::kCopy};
}

/// Two synchronisations, of the app and of torch; an allocation by the driver inside the runtime's; another thread that
/// waits at the same time. On the device "long" runs from 300 to 700, "short" from 700 to 720, "late" from 2000 on.
TraceBuilder waits() {
    TraceBuilder trace = begun_trace();
    const auto launch = [&](std::uint64_t at, std::uint64_t correlation) {
        trace.call({.api = driver_launch(), .begin = kStart + at, .end = kStart + at + 10, .correlation = correlation});
    };
    launch(100, 1);
    launch(120, 2);
    launch(140, 3);
    trace.call({.api = device_sync(), .begin = kStart + 400, .end = kStart + 800, .caller = 0x5100});
    trace.call({.api = stream_sync(), .begin = kStart + 900, .end = kStart + 950, .caller = 0x1100});
    trace.call({.api = driver_malloc(), .begin = kStart + 1010, .end = kStart + 1090, .depth = 1, .caller = 0x1100});
    trace.call({.api = runtime_malloc(), .begin = kStart + 1000, .end = kStart + 1100, .caller = 0x5100});
    trace.thread(1, 101, "worker");
    trace.call({.api = device_sync(), .begin = kStart + 600, .end = kStart + 2100, .caller = 0x5100});
    trace.activity({.name = "long", .start = on_device(kStart + 300), .duration = 400, .correlation = 1});
    trace.activity({.name = "short", .start = on_device(kStart + 700), .duration = 20, .correlation = 2});
    trace.activity({.name = "late", .start = on_device(kStart + 2000), .duration = 500, .correlation = 3});
    trace.end(kStart + 1'000'000);
    return trace;
}

}  // namespace

TEST_CASE("waits by call and by the object that called", "[sync]") {
    TraceBuilder trace = waits();
    const auto model = timeline_of(trace);
    const auto sync = analysis::sync_sites(*model, *model->timeline);
    REQUIRE(sync.sites.size() == 3);
    const auto& [asked, allocation, stream] = std::tie(sync.sites[0], sync.sites[1], sync.sites[2]);
    CHECK(asked.call == "cudaDeviceSynchronize");
    CHECK(asked.site == "app");
    CHECK(asked.kind == WaitKind::kSynchronise);
    CHECK(asked.count == 2);
    CHECK(asked.time_ns == 400 + 1500);
    CHECK(asked.max_ns == 1500);
    CHECK(asked.share_of_wall == Approx(1900.0 / 1'000'000));
    REQUIRE(asked.gpu);
    CHECK(asked.gpu->busy_ns == 320 + 220);  // 400 to 720; 600 to 720 and 2000 to 2100
    CHECK(asked.gpu->busy_share == Approx(540.0 / 1900));
    REQUIRE(asked.gpu->longest);
    CHECK(asked.gpu->longest->mangled == "long");
    CHECK(asked.gpu->longest->time_ns == 300 + 100);
    CHECK(asked.outlasted == 2U);
    CHECK(allocation.call == "cudaMalloc");  // Not the driver's inside.
    CHECK(allocation.kind == WaitKind::kAllocate);
    CHECK(allocation.count == 1);
    CHECK(allocation.gpu->busy_ns == 0);
    CHECK_FALSE(allocation.gpu->longest);
    CHECK(allocation.outlasted == 0U);
    CHECK(stream.call == "cudaStreamSynchronize");
    CHECK(stream.site == "libtorch_cuda.so");
}

TEST_CASE("waits by thread, and the longest ones", "[sync]") {
    TraceBuilder trace = waits();
    const auto model = timeline_of(trace);
    const auto sync = analysis::sync_sites(*model, *model->timeline);
    REQUIRE(sync.threads.size() == 2);
    CHECK(sync.threads[0].name == "worker");
    CHECK(sync.threads[0].time_ns == 1500);
    CHECK(sync.threads[1].tid == 100);
    CHECK(sync.threads[1].count == 3);
    CHECK(sync.threads[1].time_ns == 550);
    CHECK(sync.threads[1].gpu_busy_ns == 320U);
    REQUIRE(sync.waits.size() == 4);
    CHECK(sync.waits[0].tid == 101);
    CHECK(sync.waits[0].begin_ns == static_cast<std::int64_t>(kStart + kHostOffset + 600));
    CHECK(sync.waits[0].duration_ns == 1500);
    CHECK(sync.waits[0].gpu->busy_ns == 220);
    CHECK(sync.waits[0].gpu->longest->time_ns == 100);  // "long" and "late" alike: the first by name's number.
    CHECK(sync.waits[1].duration_ns == 400);
}

TEST_CASE("waits add up to the summary's synchronisation time", "[sync]") {
    TraceBuilder trace = waits();
    const auto model = timeline_of(trace);
    const auto sync = analysis::sync_sites(*model, *model->timeline);
    const analysis::Sync summary = analysis::synchronisation(*model);
    std::uint64_t by_site = 0, by_thread = 0, busy = 0;
    for (const auto& site : sync.sites) {
        by_site += site.time_ns;
    }
    for (const auto& thread : sync.threads) {
        by_thread += thread.time_ns;
        busy += thread.gpu_busy_ns.value_or(0);
    }
    CHECK(summary.time_ns == 2050);
    CHECK(by_site == summary.time_ns);
    CHECK(by_thread == summary.time_ns);
    CHECK(busy == summary.gpu_busy_ns);
}

TEST_CASE("kernels of one name that overlap count a moment of a wait once", "[sync]") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(), .begin = kStart + 10, .end = kStart + 20, .correlation = 1});
    trace.call({.api = driver_launch(), .begin = kStart + 30, .end = kStart + 40, .correlation = 2});
    trace.call({.api = device_sync(), .begin = kStart + 100, .end = kStart + 200});
    trace.activity({.name = "k", .start = on_device(kStart + 110), .duration = 50, .correlation = 1});
    trace.activity({.name = "k", .start = on_device(kStart + 120), .duration = 60, .correlation = 2, .stream = 9});
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const auto sync = analysis::sync_sites(*model, *model->timeline);
    REQUIRE(sync.waits.size() == 1);
    CHECK(sync.waits[0].gpu->busy_ns == 70);
    CHECK(sync.waits[0].gpu->longest->time_ns == 70);
    CHECK(sync.sites[0].outlasted == 0U);  // Nothing ran when it was called.
}

TEST_CASE("without the device's clock nothing is said of the GPU", "[sync]") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.block_ticks(kStart + 2'000'000'000);
    trace.anchor(kStart, kStart + kHostOffset);
    trace.anchor(kStart + 1'000'000, kStart + 1'000'000 + kHostOffset);
    trace.span(kStart, abi::SpanKind::kHost, true);
    trace.thread(0, 100);
    trace.call({.api = device_sync(), .begin = kStart + 100, .end = kStart + 200});
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const auto sync = analysis::sync_sites(*model, *model->timeline);
    REQUIRE(sync.sites.size() == 1);
    CHECK(sync.sites[0].time_ns == 100);
    CHECK_FALSE(sync.sites[0].gpu);
    CHECK_FALSE(sync.sites[0].outlasted);
    CHECK_FALSE(sync.threads[0].gpu_busy_ns);
    CHECK_FALSE(sync.waits[0].gpu);
}

TEST_CASE("the length of a wait that reaches beyond the range is cut to it", "[sync]") {
    TraceBuilder trace = waits();
    const auto model = timeline_of(trace);
    analysis::Selection selection;
    selection.from_ns = 300;
    selection.to_ns = 1000;
    const auto part = analysis::select(*model, *model->timeline, selection);
    const auto sync = analysis::sync_sites(*model, part);
    REQUIRE(sync.threads.size() == 2);
    CHECK(sync.threads[0].time_ns == 450);
    CHECK(sync.threads[1].time_ns == 400);  // 600 to 1000
    CHECK(sync.waits[0].duration_ns == 1500);
}

TEST_CASE("asynchronous copies of pageable memory: those that returned after their copy had ended", "[sync]") {
    TraceBuilder trace = begun_trace();
    const auto copy = [&](std::uint64_t at, std::uint64_t correlation, std::uint64_t device_at, std::uint32_t source) {
        trace.call({.api = driver_copy(),
                    .begin = kStart + at + 5,
                    .end = kStart + at + 95,
                    .depth = 1,
                    .correlation = correlation,
                    .caller = 0x1100,
                    .copy_bytes = 64});
        trace.call({.api = runtime_copy(),
                    .begin = kStart + at,
                    .end = kStart + at + 100,
                    .caller = 0x5100,
                    .copy_bytes = 64});
        trace.activity({.tag = abi::Tag::kMemcpy,
                        .start = on_device(kStart + device_at),
                        .duration = 10,
                        .correlation = correlation,
                        .bytes = 64,
                        .copy_kind = 1,
                        .source_memory = source});
    };
    copy(100, 1, 150, 1);
    copy(300, 2, 500, 1);
    copy(700, 3, 750, 2);  // Pinned.
    trace.call({.api = {"cudaMemcpy", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy, abi::kApiBlocking},
                .begin = kStart + 900,
                .end = kStart + 990,
                .correlation = 4,
                .caller = 0x5100});
    trace.activity({.tag = abi::Tag::kMemcpy,
                    .start = on_device(kStart + 950),
                    .duration = 10,
                    .correlation = 4,
                    .bytes = 64,
                    .copy_kind = 1});
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const auto sync = analysis::sync_sites(*model, *model->timeline);
    REQUIRE(sync.pageable.size() == 1);
    CHECK(sync.pageable[0].call == "cudaMemcpyAsync");
    CHECK(sync.pageable[0].site == "app");
    CHECK(sync.pageable[0].direction == "HtoD");
    CHECK(sync.pageable[0].count == 2);
    CHECK(sync.pageable[0].time_ns == 200);
    CHECK(sync.pageable[0].waited == 1U);
    CHECK(sync.pageable[0].waited_ns == 100U);
    REQUIRE(sync.sites.size() == 1);
    CHECK(sync.sites[0].kind == WaitKind::kCopy);
    CHECK(sync.sites[0].time_ns == 90);
}

TEST_CASE("work that took turns with the legacy default stream", "[sync]") {
    TraceBuilder trace = begun_trace();
    const auto launch = [&](std::uint64_t at, std::uint64_t correlation, std::uint64_t handle) {
        trace.call({.api = driver_launch(),
                    .begin = kStart + at,
                    .end = kStart + at + 5,
                    .correlation = correlation,
                    .stream = handle,
                    .flags = abi::kCallStream});
    };
    const auto run = [&](std::uint64_t at, std::uint64_t duration, std::uint64_t correlation, std::uint64_t stream) {
        trace.activity({.name = "k",
                        .start = on_device(kStart + at),
                        .duration = duration,
                        .correlation = correlation,
                        .stream = stream});
    };
    launch(100, 1, 0xaa);  // 200 to 500 on stream 13
    launch(110, 2, 0);     // The default stream, 7: begins when stream 13 is empty.
    launch(120, 3, 0xbb);  // Stream 14: begins when the default stream is empty.
    launch(130, 4, 0xaa);  // Stream 13 again, long after the default stream's work: nobody knows why.
    run(200, 300, 1, 13);
    run(502, 98, 2, 7);
    run(601, 50, 3, 14);
    run(2000, 50, 4, 13);
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const auto found = analysis::default_stream(*model->timeline);
    CHECK(found.activities == 1);
    REQUIRE(found.waits.size() == 2);
    CHECK(found.waits[0].waiting_stream == 7);
    CHECK(found.waits[0].ran_stream == 13);
    CHECK(found.waits[0].default_waited);
    CHECK(found.waits[0].count == 1);
    CHECK(found.waits[0].time_ns == 300);
    CHECK(found.waits[1].waiting_stream == 14);
    CHECK(found.waits[1].ran_stream == 7);
    CHECK_FALSE(found.waits[1].default_waited);
    CHECK(found.waits[1].time_ns == 98);
}

TEST_CASE("streams that run beside the default stream, or beside each other, took no turns", "[sync]") {
    TraceBuilder trace = begun_trace();
    const auto work = [&](std::uint64_t at, std::uint64_t correlation, std::uint64_t handle, std::uint64_t stream,
                          std::uint64_t from, std::uint64_t duration) {
        trace.call({.api = driver_launch(),
                    .begin = kStart + at,
                    .end = kStart + at + 5,
                    .correlation = correlation,
                    .stream = handle,
                    .flags = abi::kCallStream});
        trace.activity({.name = "k",
                        .start = on_device(kStart + from),
                        .duration = duration,
                        .correlation = correlation,
                        .stream = stream});
    };
    work(100, 1, 0xaa, 13, 200, 300);
    work(110, 2, 0, 7, 300, 100);     // Beside stream 13's.
    work(120, 3, 0xbb, 14, 501, 10);  // After stream 13's: neither is the default stream.
    work(130, 4, 2, 15, 600, 10);     // A thread's own default stream is none that others wait for.
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const auto found = analysis::default_stream(*model->timeline);
    CHECK(found.activities == 1);
    CHECK(found.waits.empty());
}

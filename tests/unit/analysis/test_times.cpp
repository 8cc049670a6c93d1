// Times: GPU, API, CPU, synchronisation, wall, with clocks that drift.
#include <catch2/catch.hpp>

#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Findings;

namespace {

void kernel(TraceBuilder& trace, std::uint64_t at, std::uint64_t duration, std::uint64_t device = 0,
            std::uint32_t flags = 0) {
    trace.activity({.name = "k",
                    .start = on_device(at),
                    .duration = duration,
                    .correlation = 1,
                    .device = device,
                    .flags = flags});
}

}  // namespace

TEST_CASE("GPU time, busy, concurrency, utilisation: overlap and gaps on two devices") {
    TraceBuilder trace = begun_trace();  // Wall time: 1 ms.
    trace.device(0, "NVIDIA H200");
    kernel(trace, kStart + 1'000, 2'000);
    kernel(trace, kStart + 2'000, 2'000);  // Overlaps for 1,000.
    trace.activity({.tag = abi::Tag::kMemcpy,
                    .start = on_device(kStart + 3'500),
                    .duration = 1'500,
                    .bytes = 3'000,
                    .copy_kind = 2});
    trace.activity({.tag = abi::Tag::kMemset, .start = on_device(kStart + 9'000), .duration = 500, .bytes = 100});
    kernel(trace, kStart + 1'000, 4'000, 1);
    trace.end(kStart + 900'000);
    const Findings findings = findings_of(trace);
    REQUIRE(findings.gpu.devices.size() == 2);
    const auto& first = findings.gpu.devices[0];
    CHECK(findings.run.wall_ns == 1'000'000);
    CHECK(first.name == "NVIDIA H200");
    CHECK(first.kernel_ns == 4'000);
    CHECK(first.copy_ns == 1'500);
    CHECK(first.set_ns == 500);
    CHECK(first.time_ns == 6'000);
    CHECK(first.busy_ns == 4'000 + 500);  // [1000, 5000) and [9000, 9500)
    CHECK(first.concurrency == Approx(6'000.0 / 4'500));
    CHECK(first.utilisation == Approx(0.0045));
    CHECK(findings.gpu.devices[1].busy_ns == 4'000);
    CHECK(findings.gpu.devices[1].name.empty());
    CHECK(findings.gpu.all.time_ns == 10'000);
    CHECK(findings.gpu.all.busy_ns == 8'500);
    CHECK(findings.gpu.all.concurrency == Approx(10.0 / 8.5));
    CHECK(findings.gpu.all.utilisation == Approx(8'500.0 / 2'000'000));
}

TEST_CASE("a device that did nothing is listed and takes no part in the mean") {
    TraceBuilder trace = begun_trace();
    trace.device(0, "busy one");
    trace.device(1, "idle one");
    kernel(trace, kStart + 1'000, 2'000);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    REQUIRE(findings.gpu.devices.size() == 2);
    CHECK(findings.gpu.devices[1].utilisation == 0);
    CHECK(findings.gpu.all.utilisation == Approx(0.002));
}

TEST_CASE("records without a usable time count, their time does not") {
    TraceBuilder trace = begun_trace();
    kernel(trace, kStart + 1'000, 2'000);
    kernel(trace, kStart + 1'000, 0, 0, abi::kDeviceUntimed);
    trace.activity({.name = "k", .start = 0, .duration = 5});           // start 0
    kernel(trace, kStart + 1'000, 0);                                   // no duration
    kernel(trace, kStart + 1'000, 112'000'000'000);                     // longer than the whole recording
    kernel(trace, kStart + 86'400'000'000'000, 100);                    // a day late
    trace.activity({.name = "k", .start = 5, .duration = 5});           // long before the recording
    trace.activity({.name = "k", .start = ~0ULL - 10, .duration = 5});  // overflow
    kernel(trace, kStart + 4'000, 1'000);
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.run.wall_ns == 1'000'000);
    const auto& device = findings.gpu.devices.at(0);
    CHECK(device.kernels == 9);
    CHECK(device.untimed == 7);
    CHECK(device.kernel_ns == 3'000);
    CHECK(device.busy_ns == 3'000);
    CHECK(kernel_row(findings, "k").count == 9);
    CHECK(kernel_row(findings, "k").duration.timed == 2);
    CHECK(kernel_row(findings, "k").duration.min_ns == 1'000);
    CHECK(findings.completeness.untimed_records == 7);
}

TEST_CASE("kernel rows: statistics, shares, order") {
    TraceBuilder trace = begun_trace();
    std::uint64_t at = kStart;
    for (const std::uint64_t duration : {100, 300, 200, 1'000}) {
        trace.activity({.name = "small", .start = on_device(at += 10'000), .duration = duration, .correlation = 1});
    }
    trace.activity({.name = "big", .start = on_device(at += 10'000), .duration = 8'400, .correlation = 1});
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    REQUIRE(findings.kernels.size() == 2);
    CHECK(findings.kernels[0].mangled == "big");
    const auto& small = findings.kernels[1];
    CHECK(small.duration.time_ns == 1'600);
    CHECK(small.duration.avg_ns == 400);
    CHECK(small.duration.med_ns == 250);
    CHECK(small.duration.med_exact);
    CHECK(small.duration.min_ns == 100);
    CHECK(small.duration.max_ns == 1'000);
    CHECK(small.share_of_kernels == Approx(0.16));
    CHECK(small.share_of_wall == Approx(0.0016));
}

TEST_CASE("API time: outermost calls, per thread; call rows: what is inside is included") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(), .begin = kStart + 120, .end = kStart + 180, .depth = 1, .correlation = 1});
    trace.call({.api = runtime_launch(), .begin = kStart + 100, .end = kStart + 200});
    trace.call({.api = runtime_launch(), .begin = kStart + 300, .end = kStart + 500, .correlation = 2});
    trace.thread(1, 101);
    trace.call({.api = runtime_launch(), .begin = kStart + 100, .end = kStart + 400, .correlation = 3});
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    CHECK(findings.api.time_ns == 100 + 200 + 300);
    CHECK(findings.api.calls == 4);
    CHECK(findings.api.threads == 2);
    CHECK(findings.api.share_of_wall == Approx(0.0006));
    REQUIRE(findings.calls.size() == 2);
    CHECK(findings.calls[0].name == "cudaLaunchKernel");
    CHECK(findings.calls[0].count == 3);
    CHECK(findings.calls[0].outermost == 3);
    CHECK(findings.calls[0].duration.time_ns == 600);
    CHECK(findings.calls[0].duration.med_ns == 200);
    CHECK(findings.calls[1].duration.time_ns == 60);
    CHECK(findings.calls[1].outermost == 0);
}

TEST_CASE("API time never counts a moment of a thread twice, even of orphans") {
    TraceBuilder trace = begun_trace();
    // The call around these two was dropped; it claims depth 1, so both become trees of their own.
    trace.call({.api = runtime_launch(), .begin = kStart + 100, .end = kStart + 200, .depth = 1});
    trace.call({.api = runtime_launch(), .begin = kStart + 150, .end = kStart + 250, .depth = 1});
    trace.end(kStart + 900);
    CHECK(findings_of(trace).api.time_ns == 150);
}

TEST_CASE("synchronisation: outermost blocking calls, and what the GPU did meanwhile") {
    const Api copy{"cudaMemcpy", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy, abi::kApiBlocking};
    const Api driver_sync{"cuStreamSynchronize", "driver", abi::ApiLevel::kDriver, abi::ApiClass::kSync,
                          abi::kApiBlocking};
    TraceBuilder trace = begun_trace();
    kernel(trace, kStart + 1'000, 3'000);  // GPU busy [1000, 4000)
    kernel(trace, kStart + 6'000, 1'000);  // and [6000, 7000)
    // A blocking call inside a blocking call inside a library call.
    trace.call({.api = driver_sync, .begin = kStart + 2'100, .end = kStart + 4'900, .depth = 2});
    trace.call({.api = stream_sync(), .begin = kStart + 2'000, .end = kStart + 5'000, .depth = 1});
    trace.call({.api = cudnn("cudnnFind"), .begin = kStart + 1'900, .end = kStart + 5'100});
    trace.call({.api = copy, .begin = kStart + 6'500, .end = kStart + 8'500, .copy_bytes = 4, .copy_kind = 2});
    // Another thread waits at the same time.
    trace.thread(1, 101, "worker");
    trace.call({.api = device_sync(), .begin = kStart, .end = kStart + 10'000});
    trace.end(kStart + 900);
    const Findings findings = findings_of(trace);
    const auto& sync = findings.sync;
    CHECK(sync.gpu_known);
    CHECK(sync.time_ns == 3'000 + 2'000 + 10'000);
    CHECK(sync.any_thread_ns == 10'000);
    CHECK(sync.gpu_busy_ns == 2'000 + 500 + 4'000);
    CHECK(sync.gpu_idle_ns == 15'000 - 6'500);
    REQUIRE(sync.threads.size() == 2);
    CHECK(sync.threads[0].tid == 101);
    CHECK(sync.threads[0].name == "worker");
    CHECK(sync.threads[0].time_ns == 10'000);
    CHECK(sync.threads[1].time_ns == 5'000);
    CHECK(sync.threads[0].share_of_wall == Approx(0.01));
    REQUIRE(sync.calls.size() == 3);
    CHECK(sync.calls[0].name == "cudaDeviceSynchronize");
    CHECK(sync.calls[1].name == "cudaStreamSynchronize");
    CHECK(sync.calls[1].time_ns == 3'000);
    CHECK(sync.calls[1].gpu_busy_ns == 2'000);
    CHECK(sync.calls[2].name == "cudaMemcpy");
    CHECK(sync.calls[2].gpu_busy_ns == 500);
}

TEST_CASE("many threads that wait all the time: no thread is above its wall, the sum is") {
    TraceBuilder trace = begun_trace();
    for (std::uint32_t thread = 0; thread < 5; ++thread) {
        trace.thread(thread, 200 + thread);
        trace.call({.api = device_sync(), .begin = kStart, .end = kStart + 500'000});
        // A call that claims to lie outside but overlaps.
        trace.call({.api = stream_sync(), .begin = kStart + 400'000, .end = kStart + 1'000'000});
    }
    trace.end(kStart + 1'000'000);
    const Findings findings = findings_of(trace);
    REQUIRE(findings.sync.threads.size() == 5);
    for (const auto& thread : findings.sync.threads) {
        CHECK(thread.time_ns == 1'000'000);
        CHECK(thread.share_of_wall <= 1.0);
    }
    CHECK(findings.sync.share_of_wall == Approx(5.0));
    CHECK(findings.sync.any_thread_ns == 1'000'000);
}

TEST_CASE("without a device clock the GPU's part in a wait is not known") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.anchor(kStart, kStart + kHostOffset);
    trace.thread(0, 100);
    trace.call({.api = device_sync(), .begin = kStart, .end = kStart + 1'000});
    trace.end(kStart + 2'000);
    const Findings findings = findings_of(trace);
    CHECK_FALSE(findings.sync.gpu_known);
    CHECK(findings.sync.time_ns == 1'000);
    CHECK(findings.run.wall_ns == 2'000);
}

TEST_CASE("wall time: from the first to the last of anything the process recorded") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.header.start_monotonic_ns = kStart + kHostOffset;
    trace.header.tick_hz = 500'000'000;  // 2 ns a tick, and no anchor at all.
    trace.block_ticks(kStart + 5'000);
    trace.thread(0, 100);
    SECTION("a call that began before the recording") {
        trace.call({.api = device_sync(), .begin = kStart - 100, .end = kStart + 50});
        CHECK(findings_of(trace).run.wall_ns == 300);
    }
    SECTION("the end record") {
        trace.call({.api = device_sync(), .begin = kStart, .end = kStart + 50});
        trace.end(kStart + 1'000);
        CHECK(findings_of(trace).run.wall_ns == 2'000);
    }
    SECTION("what others add later does not count") {
        trace.call({.api = device_sync(), .begin = kStart, .end = kStart + 50});
        trace.new_segment();
        trace.salvaged(true);
        trace.block_ticks(kStart + 1'000'000'000);
        trace.anchor(kStart + 1'000'000'000, kStart + kHostOffset + 2'000'000'000);
        trace.end(kStart + 1'000'000'000, abi::EndKind::kSalvaged);
        trace.end(kStart + 1'000'000'000, abi::EndKind::kWaitStatus, 9);
        CHECK(findings_of(trace).run.wall_ns == 100);
    }
    SECTION("a kernel that runs on after the last call") {
        trace.anchor(kStart, kStart + kHostOffset, on_device(kStart));
        trace.call({.api = device_sync(), .begin = kStart, .end = kStart + 50});
        trace.activity({.name = "k", .start = on_device(kStart + 200), .duration = 500});
        CHECK(findings_of(trace).run.wall_ns == 700);
    }
    SECTION("nothing but the header") {
        CHECK(findings_of(trace).run.wall_ns == 0);
    }
}

TEST_CASE("clocks that drift: host times follow the anchors, device durations are the device's own") {
    TraceBuilder trace;
    trace.header.start_ticks = 1'000;
    trace.header.tick_hz = 1'000'000'000;
    trace.block_ticks(5'000'000);
    // From 1,001,000 ticks on the host's counter runs at half speed (2 ns a tick), and the device's clock at 10 % more.
    trace.anchor(1'000, 10'001'000, 70'000'000);
    trace.anchor(1'001'000, 11'001'000, 71'000'000);
    trace.anchor(2'001'000, 13'001'000, 73'200'000);
    trace.thread(0, 100);
    trace.call({.api = stream_sync(), .begin = 501'000, .end = 601'000});      // 100,000 ns
    trace.call({.api = stream_sync(), .begin = 1'101'000, .end = 1'201'000});  // 200,000 ns, host ns 11,201,000 on
    // Device [71,110,000, 71,330,000) is host ns [11,101,000, 11,301,000): half of it under the second wait.
    trace.activity({.name = "k", .start = 71'110'000, .duration = 220'000, .correlation = 1});
    trace.end(2'001'000);
    const Findings findings = findings_of(trace);
    CHECK(findings.run.wall_ns == 3'000'000);
    CHECK(findings.sync.time_ns == 300'000);
    CHECK(findings.sync.gpu_busy_ns == 100'000);
    CHECK(findings.gpu.all.time_ns == 220'000);
    CHECK(findings.gpu.all.busy_ns == 220'000);
}

TEST_CASE("CPU time between the first and the last sample") {
    TraceBuilder trace = begun_trace();
    SECTION("two samples") {
        trace.cpu(kStart + 10, 5'000'000, 1'000'000, 100, 7);
        trace.cpu(kStart + 900, 5'600'000, 1'100'000, 40'100, 9);
        const auto cpu = findings_of(trace).cpu;
        CHECK(cpu.known);
        CHECK_FALSE(cpu.since_process_start);
        CHECK(cpu.user_ns == 600'000);
        CHECK(cpu.system_ns == 100'000);
        CHECK(cpu.own_ns == 40'000);
        CHECK(cpu.share_of_wall == Approx(0.7));
    }
    SECTION("one sample") {
        trace.cpu(kStart + 10, 5'000'000, 1'000'000, 100, 7);
        const auto cpu = findings_of(trace).cpu;
        CHECK(cpu.since_process_start);
        CHECK(cpu.user_ns == 5'000'000);
    }
    SECTION("none") {
        CHECK_FALSE(findings_of(trace).cpu.known);
    }
}

TEST_CASE("copies by direction, bytes and rate") {
    const Api copy{"cudaMemcpyAsync", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy};
    const Api driver_copy{"cuMemcpyAsync", "driver", abi::ApiLevel::kDriver, abi::ApiClass::kCopy};
    TraceBuilder trace = begun_trace();
    for (const std::uint64_t i : {1, 2}) {
        trace.activity({.tag = abi::Tag::kMemcpy,
                        .start = on_device(kStart + 1'000 * i),
                        .duration = 100 * i,
                        .bytes = 3'000 * i,
                        .copy_kind = 1});
    }
    trace.activity({.tag = abi::Tag::kMemcpy, .start = 0, .duration = 0, .bytes = 500, .copy_kind = 1});
    trace.activity({.tag = abi::Tag::kMemset, .start = on_device(kStart + 9'000), .duration = 10, .bytes = 640});
    // Its record is there: the call adds nothing.
    trace.call(
        {.api = copy, .begin = kStart + 10, .end = kStart + 20, .correlation = 5, .copy_bytes = 3'000, .copy_kind = 1});
    // No record will come: counted by its innermost call, once.
    trace.call({.api = driver_copy,
                .begin = kStart + 31,
                .end = kStart + 39,
                .depth = 1,
                .copy_bytes = 70,
                .copy_kind = 2,
                .flags = abi::kCallUntimed});
    trace.call({.api = copy,
                .begin = kStart + 30,
                .end = kStart + 40,
                .copy_bytes = 70,
                .copy_kind = 2,
                .flags = abi::kCallUntimed});
    trace.call({.api = copy,
                .begin = kStart + 50,
                .end = kStart + 60,
                .status = 1,
                .copy_bytes = 70,
                .copy_kind = 2,
                .flags = abi::kCallUntimed});
    trace.end(kStart + 900);
    const auto copies = findings_of(trace).copies;
    REQUIRE(copies.size() == 3);
    CHECK(copies[0].direction == "HtoD");
    CHECK(copies[0].count == 3);
    CHECK(copies[0].bytes == 9'500);
    CHECK(copies[0].duration.time_ns == 300);
    CHECK(copies[0].gb_per_s == Approx(30.0));
    CHECK(copies[1].direction == "memset");
    CHECK(copies[1].bytes == 640);
    CHECK(copies[1].gb_per_s == Approx(64.0));
    CHECK(copies[2].direction == "DtoH");
    CHECK(copies[2].count == 1);
    CHECK(copies[2].bytes == 70);
    CHECK(copies[2].gb_per_s == 0);
}

TEST_CASE("what gpuspy cost") {
    TraceBuilder trace = begun_trace();
    trace.cpu(kStart, 0, 0, 500, 20);
    trace.cpu(kStart + 500, 10'000, 0, 4'000, 1'020);
    trace.cost(10, 1);
    trace.cost(2'000, 17'500);  // The last one counts.
    trace.end(kStart + 900);
    const auto cost = findings_of(trace).overhead;
    CHECK(cost.known);
    CHECK(cost.calls == 2'000);
    CHECK(cost.call_ns == Approx(17.5));
    CHECK(cost.calls_ns == 35'000);
    CHECK(cost.drain_ns == 4'000);
    CHECK(cost.callback_ns == 1'020);
    CHECK(cost.total_ns == 40'020);
    CHECK(cost.share_of_wall == Approx(0.04002));
}

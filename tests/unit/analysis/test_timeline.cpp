// The timeline: what is linked with what, and what a selection leaves.
#include <catch2/catch.hpp>

#include "analysis/model/selection.hpp"
#include "analysis/passes/thread_calls.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::kNone;
using analysis::Timeline;

namespace {

Api copy_call() {
    return {"cudaMemcpyAsync", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy};
}

/// A cuDNN call around two launches, a launch of the program's own and a copy; their records in another order.
TraceBuilder small_trace() {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(), .begin = kStart + 110, .end = kStart + 120, .depth = 1, .correlation = 1});
    trace.call({.api = driver_launch(), .begin = kStart + 130, .end = kStart + 140, .depth = 1, .correlation = 2});
    trace.call({.api = cudnn("cudnnConvolutionForward"), .begin = kStart + 100, .end = kStart + 150, .caller = 0x1100});
    trace.call(
        {.api = driver_launch(), .begin = kStart + 200, .end = kStart + 210, .correlation = 3, .caller = 0x5100});
    trace.call({.api = copy_call(),
                .begin = kStart + 300,
                .end = kStart + 310,
                .correlation = 4,
                .caller = 0x5100,
                .copy_bytes = 64});
    trace.activity({.tag = abi::Tag::kMemcpy,
                    .start = on_device(kStart + 700),
                    .duration = 50,
                    .correlation = 4,
                    .bytes = 64,
                    .copy_kind = 1});
    trace.activity({.name = "own", .start = on_device(kStart + 600), .duration = 60, .correlation = 3, .stream = 9});
    trace.activity({.name = "conv", .start = on_device(kStart + 400), .duration = 80, .correlation = 1});
    trace.activity({.name = "pad", .start = on_device(kStart + 500), .duration = 70, .correlation = 2, .device = 1});
    trace.end(kStart + 900'000);
    return trace;
}

}  // namespace

TEST_CASE("a model has a timeline only where it was asked for") {
    TraceBuilder trace = small_trace();
    CHECK(model_of(trace)->timeline == nullptr);
    CHECK(timeline_of(trace)->timeline != nullptr);
}

TEST_CASE("calls stand by their begin, and know the calls around them") {
    TraceBuilder trace = small_trace();
    const auto model = timeline_of(trace);
    const Timeline& timeline = *model->timeline;
    REQUIRE(timeline.calls.size() == 5);
    CHECK(model->index.symbols.api(timeline.calls[0].api).name == "cudnnConvolutionForward");
    CHECK(timeline.calls[0].parent == kNone);
    CHECK(timeline.calls[0].library == 0);
    CHECK_FALSE(timeline.calls[0].is_launch);
    for (const std::size_t inside : {1U, 2U}) {
        CHECK(timeline.calls[inside].parent == 0);
        CHECK(timeline.calls[inside].library == 0);
        CHECK(timeline.calls[inside].is_launch);
    }
    CHECK(timeline.calls[3].library == kNone);
    CHECK(timeline.calls[3].begin_ns == static_cast<std::int64_t>(kStart + kHostOffset + 200));
    CHECK(timeline.calls[3].duration_ns() == 10);
    CHECK(model->owners.at(timeline.calls[3].owner).name == "app");
}

TEST_CASE("of calls that begin and end in the same moment the outer one stands first") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(), .begin = kStart + 100, .end = kStart + 100, .depth = 2});
    trace.call({.api = runtime_launch(), .begin = kStart + 100, .end = kStart + 100, .depth = 1});
    trace.call({.api = cudnn("cudnnConvolutionForward"), .begin = kStart + 100, .end = kStart + 100});
    trace.end(kStart + 900'000);
    const auto model = timeline_of(trace);
    const Timeline& timeline = *model->timeline;
    REQUIRE(timeline.calls.size() == 3);
    CHECK(timeline.calls[0].parent == kNone);
    CHECK(timeline.calls[1].parent == 0);
    CHECK(timeline.calls[2].parent == 1);
    CHECK(timeline.calls[2].library == 0);
}

TEST_CASE("a selection by time keeps what runs into it, and a union is cut to it") {
    TraceBuilder trace = begun_trace();
    trace.call(
        {.api = driver_launch(), .begin = kStart + 100, .end = kStart + 900, .correlation = 1, .caller = 0x5100});
    trace.activity({.name = "long", .start = on_device(kStart + 200), .duration = 500, .correlation = 1});
    trace.end(kStart + 900'000);
    const auto model = timeline_of(trace);
    analysis::Selection selection;
    selection.from_ns = 300;
    selection.to_ns = 400;
    const Timeline inside = analysis::select(*model, *model->timeline, selection);
    REQUIRE(inside.activities.size() == 1);
    CHECK(inside.own_calls().empty());
    selection.from_ns = 50;
    selection.to_ns = 150;
    const Timeline before = analysis::select(*model, *model->timeline, selection);
    CHECK(before.activities.empty());
    REQUIRE(before.own_calls().size() == 1);
    const auto threads = analysis::thread_table(*model, before);
    REQUIRE(threads.size() == 1);
    CHECK(threads[0].api_ns == 50);
    CHECK(threads[0].api_share_of_wall == Approx(0.5));
}

TEST_CASE("activities stand by device and begin, in the host's clock, with what launched them") {
    TraceBuilder trace = small_trace();
    const auto model = timeline_of(trace);
    const Timeline& timeline = *model->timeline;
    CHECK(timeline.device_clock_known);
    REQUIRE(timeline.activities.size() == 4);
    const auto& [conv, own, copy, pad] =
        std::tie(timeline.activities[0], timeline.activities[1], timeline.activities[2], timeline.activities[3]);
    CHECK(model->kernel_name(conv.record.name) == "conv");
    CHECK(conv.begin_ns == static_cast<std::int64_t>(kStart + kHostOffset + 400));
    CHECK(conv.end_ns == conv.begin_ns + 80);
    CHECK(conv.call == 1);
    CHECK(model->owners.at(conv.owner).name == "cudnn");
    CHECK(own.call == 3);
    CHECK(model->owners.at(own.owner).name == "app");
    CHECK(copy.record.kind == analysis::ActivityKind::kMemcpy);
    CHECK(copy.call == 4);
    CHECK(model->owners.at(copy.owner).name == "app");
    CHECK(pad.record.device == 1);
    CHECK(pad.call == 2);
}

TEST_CASE("a graph's kernel knows its launch and the captured call that made its node") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = driver_launch(),
                .begin = kStart + 20,
                .end = kStart + 30,
                .depth = 1,
                .launch_id = 77,
                .flags = abi::kCallCaptured});
    trace.call({.api = cublas("cublasSgemm"), .begin = kStart + 10, .end = kStart + 40, .caller = 0x1100});
    trace.graph_exec(kStart + 50, 0xe1, 9, 1);
    trace.graph_nodes(kStart + 50, 0xe1, {{3, 0, 0xf1, 77}});
    trace.call({.api = graph_launch(),
                .begin = kStart + 60,
                .end = kStart + 70,
                .correlation = 5,
                .caller = 0x5100,
                .exec = 0xe1});
    trace.activity({.name = "gemm",
                    .start = on_device(kStart + 100),
                    .duration = 10,
                    .correlation = 5,
                    .graph_exec_id = 9,
                    .graph_node = 3});
    trace.end(kStart + 900'000);
    const auto model = timeline_of(trace);
    const Timeline& timeline = *model->timeline;
    REQUIRE(timeline.activities.size() == 1);
    const analysis::DeviceActivity& gemm = timeline.activities[0];
    REQUIRE(gemm.call != kNone);
    REQUIRE(gemm.captured_call != kNone);
    CHECK(model->index.symbols.api(timeline.calls[gemm.call].api).name == "cudaGraphLaunch");
    CHECK(timeline.calls[gemm.captured_call].launch_id == 77);
    CHECK(model->owners.at(gemm.owner).name == "cublas");
}

TEST_CASE("a copy whose id came twice belongs to the call that began last before it") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = copy_call(), .begin = kStart + 100, .end = kStart + 110, .correlation = 4, .copy_bytes = 1});
    trace.call({.api = copy_call(), .begin = kStart + 500, .end = kStart + 510, .correlation = 4, .copy_bytes = 2});
    for (const std::uint64_t at : {kStart + 200, kStart + 600}) {
        trace.activity({.tag = abi::Tag::kMemcpy,
                        .start = on_device(at),
                        .duration = 5,
                        .correlation = 4,
                        .bytes = 1,
                        .copy_kind = 1});
    }
    trace.end(kStart + 900'000);
    const auto model = timeline_of(trace);
    REQUIRE(model->timeline->activities.size() == 2);
    CHECK(model->timeline->activities[0].call == 0);
    CHECK(model->timeline->activities[1].call == 1);
}

TEST_CASE("a selection by time keeps what begins in it") {
    TraceBuilder trace = small_trace();
    const auto model = timeline_of(trace);
    analysis::Selection selection;
    selection.from_ns = 160;
    selection.to_ns = 600;
    const Timeline part = analysis::select(*model, *model->timeline, selection);
    CHECK(part.wall_ns() == 440);
    REQUIRE(part.own_calls().size() == 2);  // The program's launch and the copy.
    REQUIRE(part.activities.size() == 2);   // conv and pad; "own" begins at 600.
}

TEST_CASE("a selection keeps the calls that its activities follow from, apart from those of the range") {
    TraceBuilder trace = small_trace();
    const auto model = timeline_of(trace);
    analysis::Selection selection;
    selection.from_ns = 160;
    selection.to_ns = 600;
    const Timeline part = analysis::select(*model, *model->timeline, selection);
    REQUIRE(part.calls.size() == 5);
    CHECK(part.first_call == 3);  // The cuDNN call and its two launches.
    for (const analysis::DeviceActivity& activity : part.activities) {
        REQUIRE(activity.call < part.first_call);
        CHECK(part.calls[activity.call].correlation == activity.record.correlation);
        REQUIRE(part.calls[activity.call].library != kNone);
        CHECK(model->index.symbols.api(part.calls[part.calls[activity.call].library].api).name ==
              "cudnnConvolutionForward");
    }
    CHECK(part.own_calls()[0].correlation == 3);
    CHECK(part.own_calls()[0].parent == kNone);
}

TEST_CASE("a selection by device, stream and kernel keeps all calls") {
    TraceBuilder trace = small_trace();
    const auto model = timeline_of(trace);
    analysis::Selection on_second;
    on_second.device = 1;
    CHECK(analysis::select(*model, *model->timeline, on_second).activities.size() == 1);
    CHECK(analysis::select(*model, *model->timeline, on_second).calls.size() == 5);
    analysis::Selection on_stream;
    on_stream.stream = 9;
    CHECK(analysis::select(*model, *model->timeline, on_stream).activities.size() == 1);
    analysis::Selection by_name;
    by_name.wants_kernel = [](const std::string& name) { return name == "conv"; };
    const Timeline part = analysis::select(*model, *model->timeline, by_name);
    REQUIRE(part.activities.size() == 1);
    CHECK(model->kernel_name(part.activities[0].record.name) == "conv");
    CHECK(part.wall_ns() == model->timeline->wall_ns());
}

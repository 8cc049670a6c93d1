// Gaps, their causes, and what follows from them: the passes behind the view `idle`.
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "analysis/model/selection.hpp"
#include "analysis/passes/idle.hpp"
#include "analysis/passes/verdict.hpp"
#include "analysis/render/verdict_text.hpp"
#include "analysis/views/view.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::Bound;
using analysis::DeviceIdle;
using analysis::IdleCause;

namespace {

constexpr std::uint64_t kWall = 1'000'000;

Api blocking_copy() {
    return {"cudaMemcpy", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy, abi::kApiBlocking};
}
Api async_copy() {
    return {"cudaMemcpyAsync", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy};
}
Api allocation() {
    return {"cudaMalloc", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kMemory, abi::kApiBlocking};
}

void call(TraceBuilder& trace, const Api& api, std::uint64_t begin, std::uint64_t end, std::uint64_t correlation = 0,
          std::uint32_t depth = 0) {
    trace.call({.api = api, .begin = kStart + begin, .end = kStart + end, .depth = depth, .correlation = correlation});
}

void kernel(TraceBuilder& trace, std::uint64_t begin, std::uint64_t end, std::uint64_t correlation,
            std::uint64_t device = 0) {
    trace.activity({.name = "k",
                    .start = on_device(kStart + begin),
                    .duration = end - begin,
                    .correlation = correlation,
                    .device = device});
}

void copy(TraceBuilder& trace, std::uint64_t begin, std::uint64_t end, std::uint64_t correlation) {
    trace.activity({.tag = abi::Tag::kMemcpy,
                    .start = on_device(kStart + begin),
                    .duration = end - begin,
                    .correlation = correlation,
                    .bytes = 64,
                    .copy_kind = 1});
}

/// A gap of every cause but "not recorded".
TraceBuilder all_causes() {
    TraceBuilder trace = begun_trace();
    call(trace, driver_launch(), 100, 120, 1);
    kernel(trace, 150, 300, 1);
    // Drained by a wait: sync 20, outside 30 + 20, allocation 30, launch 30, latency 10.
    call(trace, device_sync(), 200, 320);
    call(trace, allocation(), 350, 380);
    call(trace, driver_launch(), 400, 430, 2);
    kernel(trace, 440, 500, 2);
    // Queued for 20,000.
    call(trace, driver_launch(), 450, 460, 3);
    kernel(trace, 20'500, 21'000, 3);
    // Outside 100, in cuDNN 200, launch 50, latency 10.
    call(trace, driver_launch(), 21'300, 21'350, 4, 1);
    call(trace, cudnn("cudnnConvolutionForward"), 21'100, 21'400);
    kernel(trace, 21'360, 21'460, 4);
    // Outside 40, copy call 200.
    call(trace, blocking_copy(), 21'500, 21'900, 5);
    copy(trace, 21'700, 21'800, 5);
    // Nobody knows who launched it.
    kernel(trace, 22'000, 22'100, 99);
    trace.end(kStart + kWall);
    return trace;
}

DeviceIdle idle_of(TraceBuilder& trace) {
    const auto model = timeline_of(trace);
    return analysis::idle(*model, *model->timeline).devices.at(0);
}

analysis::Verdict verdict_of(TraceBuilder& trace) {
    const auto model = timeline_of(trace);
    return analysis::verdict(*model, *model->timeline);
}

using Times = std::map<IdleCause, std::uint64_t>;

Times causes_of(const DeviceIdle& device) {
    Times times;
    for (const analysis::CauseTotal& total : device.causes) {
        times[total.cause] = total.time_ns;
    }
    return times;
}

Times parts_of(const analysis::Gap& gap) {
    Times times;
    for (const analysis::GapPart& part : gap.parts) {
        times[part.cause] += part.time_ns;
    }
    return times;
}

const analysis::Gap& gap_at(const DeviceIdle& device, std::uint64_t begin) {
    for (const analysis::Gap& gap : device.gaps) {
        if (gap.begin_ns == static_cast<std::int64_t>(kStart + kHostOffset + begin)) {
            return gap;
        }
    }
    FAIL("no gap at " << begin);
    return device.gaps.front();
}

std::uint64_t parts_of_span(const analysis::Verdict& v) {
    return v.kernels_ns + v.copies_ns + v.sync_ns + v.copy_calls_ns + v.launch_ns + v.host_ns + v.queued_ns +
           v.not_known_ns;
}

}  // namespace

TEST_CASE("every gap has its causes, and busy and idle add up to the wall time", "[idle]") {
    TraceBuilder trace = all_causes();
    const DeviceIdle device = idle_of(trace);
    CHECK(causes_of(device) == Times{{IdleCause::kStart, 150},
                                     {IdleCause::kEnd, kWall - 22'100},
                                     {IdleCause::kSync, 20},
                                     {IdleCause::kLaunch, 80},
                                     {IdleCause::kCopy, 200},
                                     {IdleCause::kOtherCall, 230},
                                     {IdleCause::kOutside, 190},
                                     {IdleCause::kLatency, 20},
                                     {IdleCause::kQueued, 20'000},
                                     {IdleCause::kNotKnown, 200}});
    CHECK(device.busy_ns == 1010);
    CHECK(device.busy_ns + device.idle_ns == kWall);
    std::uint64_t causes_ns = 0;
    for (const analysis::CauseTotal& cause : device.causes) {
        causes_ns += cause.time_ns;
    }
    CHECK(causes_ns == device.idle_ns);
    CHECK(device.causes[1].cause == IdleCause::kQueued);
    CHECK(device.causes[1].share_of_wall == Approx(20'000.0 / kWall));
    CHECK(device.causes[1].share_of_idle == Approx(20'000.0 / static_cast<double>(device.idle_ns)));
}

TEST_CASE("a gap is split among what the launching thread did, and knows the wait that emptied the queue", "[idle]") {
    TraceBuilder trace = all_causes();
    const auto model = timeline_of(trace);
    const DeviceIdle device = analysis::idle(*model, *model->timeline).devices.at(0);
    REQUIRE(device.gaps.size() == 7);
    CHECK(device.gaps[0].after == analysis::kNone);  // Longest first: the end.
    const analysis::Gap& drained = gap_at(device, 300);
    CHECK(drained.length_ns() == 140);
    CHECK(parts_of(drained) == Times{{IdleCause::kSync, 20},
                                     {IdleCause::kOutside, 50},
                                     {IdleCause::kOtherCall, 30},
                                     {IdleCause::kLaunch, 30},
                                     {IdleCause::kLatency, 10}});
    CHECK(model->index.symbols.threads().at(drained.thread).tid == 100);
    CHECK(model->index.symbols.api(drained.wait_api).name == "cudaDeviceSynchronize");
    std::uint64_t after_wait_ns = 0;
    for (const analysis::GapPart& part : drained.parts) {
        after_wait_ns += part.after_wait_ns;
    }
    CHECK(after_wait_ns == 100);  // What the kernel ran during the call, from 200 to 300: up to the launch.
    CHECK(gap_at(device, 500).wait_api == analysis::kNone);
}

TEST_CASE("other calls are told by name: the library's, or what it does inside", "[idle]") {
    TraceBuilder trace = all_causes();
    std::map<std::string, std::uint64_t> calls;
    for (const analysis::CauseTotal& total : idle_of(trace).calls) {
        calls[total.call] += total.time_ns;
    }
    CHECK(calls == std::map<std::string, std::uint64_t>{{"cudaDeviceSynchronize", 20},
                                                        {"cudaMalloc", 30},
                                                        {"cuLaunchKernel", 80},
                                                        {"cudnnConvolutionForward", 200},
                                                        {"cudaMemcpy", 200}});
}

TEST_CASE("an allocation inside a library's call is an allocation; a driver call inside a launch is the launch",
          "[idle]") {
    TraceBuilder trace = begun_trace();
    call(trace, driver_launch(), 100, 110, 1);
    kernel(trace, 200, 300, 1);
    call(trace, allocation(), 320, 360, 0, 1);
    call(trace, driver_launch(), 380, 390, 2, 2);
    call(trace, runtime_launch(), 370, 400, 0, 1);
    call(trace, cudnn("cudnnConvolutionForward"), 310, 500);
    kernel(trace, 395, 450, 2);
    trace.end(kStart + kWall);
    std::map<std::string, std::uint64_t> calls;
    for (const analysis::CauseTotal& total : idle_of(trace).calls) {
        calls[total.call] += total.time_ns;
    }
    // 310-320 and 360-370 in cuDNN alone; queued from 390 on.
    CHECK(calls == std::map<std::string, std::uint64_t>{
                       {"cudnnConvolutionForward", 20}, {"cudaMalloc", 40}, {"cudaLaunchKernel", 20}});
}

TEST_CASE("a copy that its call waits for empties the queue, whatever the call's name", "[idle]") {
    TraceBuilder trace = begun_trace();
    call(trace, async_copy(), 100, 400, 1);
    copy(trace, 200, 300, 1);
    call(trace, driver_launch(), 410, 420, 2);
    kernel(trace, 425, 500, 2);
    trace.end(kStart + kWall);
    const auto model = timeline_of(trace);
    const DeviceIdle device = analysis::idle(*model, *model->timeline).devices.at(0);
    const analysis::Gap& gap = gap_at(device, 300);
    CHECK(
        parts_of(gap) ==
        Times{{IdleCause::kCopy, 100}, {IdleCause::kOutside, 10}, {IdleCause::kLaunch, 10}, {IdleCause::kLatency, 5}});
    REQUIRE(gap.wait_api != analysis::kNone);
    CHECK(model->index.symbols.api(gap.wait_api).name == "cudaMemcpyAsync");
}

TEST_CASE("time that was not recorded is no host's fault", "[idle]") {
    TraceBuilder trace = begun_trace();
    call(trace, driver_launch(), 100, 110, 1);
    kernel(trace, 200, 300, 1);
    trace.span(kStart + 400, abi::SpanKind::kDevice, false);
    trace.span(kStart + 700, abi::SpanKind::kDevice, true);
    call(trace, driver_launch(), 800, 850, 2);
    kernel(trace, 860, 900, 2);
    trace.end(kStart + kWall);
    const DeviceIdle device = idle_of(trace);
    CHECK(parts_of(gap_at(device, 300)) == Times{{IdleCause::kNotRecorded, 300},
                                                 {IdleCause::kOutside, 200},
                                                 {IdleCause::kLaunch, 50},
                                                 {IdleCause::kLatency, 10}});
    CHECK(device.busy_ns + device.idle_ns == kWall);
}

TEST_CASE("a range of time does not hide what the host had begun before it", "[idle]") {
    TraceBuilder trace = begun_trace();
    call(trace, driver_launch(), 100, 110, 1);
    call(trace, driver_launch(), 120, 130, 2);
    call(trace, device_sync(), 140, 1'250);
    kernel(trace, 1'000, 1'100, 1);
    kernel(trace, 1'150, 1'200, 2);
    call(trace, driver_launch(), 1'260, 1'270, 3);
    kernel(trace, 1'275, 1'300, 3);
    trace.end(kStart + kWall);
    const auto model = timeline_of(trace);
    analysis::Selection selection;
    selection.from_ns = 900;
    selection.to_ns = 2'000;
    const auto part = analysis::select(*model, *model->timeline, selection);
    const DeviceIdle device = analysis::idle(*model, part).devices.at(0);
    CHECK(device.busy_ns + device.idle_ns == 1'100);
    CHECK(parts_of(gap_at(device, 1'100)) == Times{{IdleCause::kLatency, 50}});
    CHECK(parts_of(gap_at(device, 1'200)) ==
          Times{{IdleCause::kSync, 50}, {IdleCause::kOutside, 10}, {IdleCause::kLaunch, 10}, {IdleCause::kLatency, 5}});
}

TEST_CASE("what a selection by stream leaves out is counted: it is not idle time of the device", "[idle]") {
    TraceBuilder trace = begun_trace();
    kernel(trace, 100, 200, 1);
    trace.activity({.name = "other", .start = on_device(kStart + 200), .duration = 50, .stream = 9});
    trace.end(kStart + kWall);
    const auto model = timeline_of(trace);
    CHECK(analysis::idle(*model, *model->timeline).devices.at(0).left_out == 0);
    analysis::Selection selection;
    selection.stream = 7;
    const auto part = analysis::select(*model, *model->timeline, selection);
    CHECK(analysis::idle(*model, part).devices.at(0).left_out == 1);
    selection = {};
    selection.from_ns = 150;
    const auto later = analysis::select(*model, *model->timeline, selection);
    CHECK(analysis::idle(*model, later).devices.at(0).left_out == 0);
}

TEST_CASE("view idle: moments count from the beginning, and gaps say what they are between", "[idle]") {
    TraceBuilder trace = all_causes();
    const auto model = timeline_of(trace);
    const analysis::ViewOptions options;
    const auto tables = analysis::idle_view({*model, *model->timeline, options});
    REQUIRE(tables.size() == 4);
    const analysis::Table& gaps = tables[3];
    CHECK(gaps.name == "gaps");
    const auto cell = [&](std::size_t row, const std::string& column) {
        for (std::size_t i = 0; i < gaps.columns.size(); ++i) {
            if (gaps.columns[i].name == column) {
                return gaps.rows.at(row).at(i);
            }
        }
        FAIL("no column " << column);
        return analysis::Cell{};
    };
    using analysis::Cell;
    CHECK(cell(0, "before") == Cell{});  // The end of the run.
    CHECK(cell(1, "begin_ns") == Cell{std::int64_t{500}});
    CHECK(cell(1, "cause") == Cell{std::string("launched, waiting")});
    CHECK(cell(1, "tid") == Cell{std::uint64_t{100}});
    CHECK(cell(2, "cause") == Cell{std::string("host in another call")});
    CHECK(cell(2, "call") == Cell{std::string("cudnnConvolutionForward")});
    CHECK(cell(3, "before") == Cell{std::string("[memcpy HtoD]")});
    CHECK(cell(3, "after") == Cell{std::string("k")});
    CHECK(tables[0].rows.at(0).at(1) == Cell{std::string("dependency-bound")});
}

TEST_CASE("devices have gaps of their own", "[idle]") {
    TraceBuilder trace = begun_trace();
    call(trace, driver_launch(), 100, 110, 1);
    call(trace, driver_launch(), 120, 130, 2);
    kernel(trace, 150, 400, 1, 0);
    kernel(trace, 200, 300, 2, 1);
    trace.end(kStart + kWall);
    const auto model = timeline_of(trace);
    const analysis::Idle result = analysis::idle(*model, *model->timeline);
    REQUIRE(result.devices.size() == 2);
    CHECK(result.devices[0].busy_ns == 250);
    CHECK(result.devices[1].busy_ns == 100);
    CHECK(result.devices[1].idle_ns == kWall - 100);
    CHECK(analysis::verdicts(*model, result).size() == 2);
    CHECK(analysis::verdict(*model, result).span_ns == 350);
}

TEST_CASE("a verdict's times are parts of the span between first and last activity", "[idle]") {
    TraceBuilder trace = all_causes();
    const analysis::Verdict v = verdict_of(trace);
    CHECK(v.span_ns == 21'950);
    CHECK(v.kernels_ns == 910);
    CHECK(v.copies_ns == 100);
    CHECK(v.sync_ns == 100);
    CHECK(v.copy_calls_ns == 200);
    CHECK(v.launch_ns == 100);
    CHECK(v.host_ns == 340);
    CHECK(v.queued_ns == 20'000);
    CHECK(v.not_known_ns == 200);
    CHECK(parts_of_span(v) == v.span_ns);
    CHECK(v.bound == Bound::kDependency);
}

namespace {

/// Ten rounds of 1000 ns. `each` gets where a round begins and its number.
template <class Round>
analysis::Verdict ten_rounds(Round each) {
    TraceBuilder trace = begun_trace();
    for (std::uint64_t round = 0; round < 10; ++round) {
        each(trace, 1000 * round, round + 1);
    }
    trace.end(kStart + kWall);
    const analysis::Verdict verdict = verdict_of(trace);
    CHECK(parts_of_span(verdict) == verdict.span_ns);
    return verdict;
}

}  // namespace

TEST_CASE("verdicts: launches that cost more than what they run", "[idle]") {
    const auto v = ten_rounds([](TraceBuilder& trace, std::uint64_t at, std::uint64_t id) {
        call(trace, driver_launch(), at, at + 900, id);
        kernel(trace, at + 950, at + 1'050, id);
    });
    CHECK(v.bound == Bound::kLaunch);
    CHECK(v.call == "cuLaunchKernel");
    CHECK(v.launch_ns == 9 * 900);
    CHECK(v.latency_ns == 9 * 50);
    CHECK(v.host_ns == 0);
    CHECK(v.kernels == 10);
    const std::string text = analysis::verdict_text(v);
    CHECK(text.find("launch-bound: ") == 0);
    CHECK(text.find("cuLaunchKernel") != std::string::npos);
}

TEST_CASE("verdicts: a wait after each kernel", "[idle]") {
    const auto v = ten_rounds([](TraceBuilder& trace, std::uint64_t at, std::uint64_t id) {
        call(trace, driver_launch(), at + 500, at + 510, id);
        kernel(trace, at + 520, at + 920, id);
        call(trace, stream_sync(), at + 520, at + 930);
    });
    CHECK(v.bound == Bound::kSync);
    CHECK(v.call == "cudaStreamSynchronize");
    CHECK(v.sync_ns == 9 * 400);  // Of each gap of 600: the kernel ran for 400 of the wait.
}

TEST_CASE("verdicts: a short wait does not explain a long absence", "[idle]") {
    const auto v = ten_rounds([](TraceBuilder& trace, std::uint64_t at, std::uint64_t id) {
        call(trace, driver_launch(), at + 800, at + 810, id);
        kernel(trace, at + 820, at + 850, id);
        call(trace, stream_sync(), at + 815, at + 855);
    });
    CHECK(v.bound == Bound::kHost);
    CHECK(v.call.empty());
    CHECK(v.sync_ns == 9 * 30);
    CHECK(v.outside_ns == v.host_ns);
}

TEST_CASE("verdicts: kernels fill the span", "[idle]") {
    const auto v = ten_rounds([](TraceBuilder& trace, std::uint64_t at, std::uint64_t id) {
        call(trace, driver_launch(), at, at + 10, id);
        kernel(trace, at + 50, at + 950, id);
    });
    CHECK(v.bound == Bound::kGpu);
    CHECK(v.kernels_ns == 9'000);
}

TEST_CASE("verdicts: copies without kernels beside them, and calls that prepare them", "[idle]") {
    const auto alone = ten_rounds([](TraceBuilder& trace, std::uint64_t at, std::uint64_t id) {
        call(trace, async_copy(), at, at + 10, id);
        copy(trace, at + 50, at + 950, id);
    });
    CHECK(alone.bound == Bound::kCopy);
    CHECK(alone.copies_ns == 9'000);
    const auto staged = ten_rounds([](TraceBuilder& trace, std::uint64_t at, std::uint64_t id) {
        call(trace, async_copy(), at + 100, at + 800, id);
        copy(trace, at + 700, at + 790, id);
    });
    CHECK(staged.bound == Bound::kCopy);
    CHECK(staged.call == "cudaMemcpyAsync");
}

TEST_CASE("verdicts: without device times nothing is said", "[idle]") {
    TraceBuilder trace = begun_trace();
    call(trace, driver_launch(), 100, 110, 1);
    trace.end(kStart + kWall);
    const analysis::Verdict v = verdict_of(trace);
    CHECK(v.bound == Bound::kNotKnown);
    CHECK(v.span_ns == 0);
    CHECK(analysis::verdict_text(v).find("not known: ") == 0);
}

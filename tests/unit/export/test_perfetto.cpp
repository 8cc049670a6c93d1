// Perfetto's packets of scripted timelines, decoded with the .proto that wrote them.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/export/perfetto/trace.pb.h"
#include "analysis/passes/latency.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"
#include "tests/unit/export/exported.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using perfetto::TrackEvent;

namespace {

struct Decoded {
    std::map<std::uint64_t, perfetto::TrackDescriptor> tracks;
    std::map<std::uint64_t, std::string> events;  ///< By track: "a(b)" is a slice b in a slice a.
    std::map<std::string, std::vector<std::uint64_t>> flows, ending_flows;               ///< By name of the slice.
    std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> counters;  ///< Moment and value, by name.
    std::size_t interned = 0;
    perfetto::Trace trace;

    [[nodiscard]] std::vector<std::string> events_of(const std::string& track) const {
        std::vector<std::string> found;
        for (const auto& [uuid, descriptor] : tracks) {
            if (descriptor.name() == track) {
                found.push_back(events.count(uuid) == 0 ? "" : events.at(uuid));
            }
        }
        return found;
    }
};

Decoded decode(TraceBuilder& script) {
    Decoded decoded;
    REQUIRE(decoded.trace.ParseFromString(exported(analysis::export_perfetto, *timeline_of(script))));
    std::map<std::uint64_t, std::string> names;
    for (const perfetto::TracePacket& packet : decoded.trace.packet()) {
        for (const auto& entry : packet.interned_data().event_names()) {
            CHECK(names.count(entry.iid()) == 0);
            names[entry.iid()] = entry.name();
            ++decoded.interned;
        }
        if (packet.has_track_descriptor()) {
            decoded.tracks[packet.track_descriptor().uuid()] = packet.track_descriptor();
        }
        const TrackEvent& event = packet.track_event();
        if (event.type() == TrackEvent::TYPE_COUNTER) {
            decoded.counters[decoded.tracks.at(event.track_uuid()).name()].emplace_back(packet.timestamp(),
                                                                                        event.counter_value());
        }
        std::string& events = decoded.events[event.track_uuid()];
        if (event.type() == TrackEvent::TYPE_SLICE_BEGIN) {
            const std::string& name = names.at(event.name_iid());
            events += name + "(";
            decoded.flows[name].insert(decoded.flows[name].end(), event.flow_ids().begin(), event.flow_ids().end());
            decoded.ending_flows[name].insert(decoded.ending_flows[name].end(), event.terminating_flow_ids().begin(),
                                              event.terminating_flow_ids().end());
        } else if (event.type() == TrackEvent::TYPE_INSTANT) {
            events += "!" + names.at(event.name_iid());
        } else if (event.type() == TrackEvent::TYPE_SLICE_END) {
            events += ")";
        }
    }
    return decoded;
}

}  // namespace

TEST_CASE("calls nest on their thread, and arrows lead from the launch to the kernel", "[export]") {
    TraceBuilder script = begun_trace();
    script.call({.api = driver_launch(), .begin = kStart + 110, .end = kStart + 120, .depth = 2, .correlation = 1});
    script.call({.api = runtime_launch(), .begin = kStart + 105, .end = kStart + 125, .depth = 1});
    script.call({.api = cudnn("cudnnPoolingForward"), .begin = kStart + 100, .end = kStart + 150, .caller = 0x1100});
    script.activity({.name = "pool", .start = on_device(kStart + 200), .duration = 50, .correlation = 1});
    script.end(kStart + 900'000);
    const Decoded decoded = decode(script);
    std::string thread;
    for (const auto& [uuid, track] : decoded.tracks) {
        if (track.has_thread()) {
            CHECK(track.thread().tid() == 100);
            CHECK(decoded.tracks.at(track.parent_uuid()).process().pid() == 4242);
            thread = decoded.events.at(uuid);
        }
    }
    CHECK(thread == "cudnnPoolingForward(cudaLaunchKernel(cuLaunchKernel()))");
    CHECK(decoded.events_of("stream 7") == std::vector<std::string>{"pool()"});
    REQUIRE(decoded.flows.at("cuLaunchKernel").size() == 1);
    CHECK(decoded.flows.at("cuLaunchKernel") == decoded.ending_flows.at("pool"));
    CHECK(decoded.flows.at("cudaLaunchKernel").empty());
}

TEST_CASE("the queue holds what the program's call has given and the device has not begun", "[export]") {
    TraceBuilder script = begun_trace();
    const auto launch = [&script](std::uint64_t at,
                                  std::uint64_t correlation) {  // The driver's call in the runtime's, in cuDNN's.
        script.call({.api = driver_launch(),
                     .begin = kStart + at + 5,
                     .end = kStart + at + 10,
                     .depth = 2,
                     .correlation = correlation});
        script.call({.api = runtime_launch(), .begin = kStart + at + 2, .end = kStart + at + 20, .depth = 1});
        script.call(
            {.api = cudnn("cudnnPoolingForward"), .begin = kStart + at, .end = kStart + at + 50, .caller = 0x1100});
    };
    launch(100, 1);
    launch(200, 2);
    launch(300, 3);
    script.activity({.name = "a", .start = on_device(kStart + 400), .duration = 10, .correlation = 1});
    script.activity({.name = "b", .start = on_device(kStart + 410), .duration = 10, .correlation = 2});
    // Begins after the driver's call returned and before the runtime's: it did not wait.
    script.activity({.name = "c", .start = on_device(kStart + 315), .duration = 10, .correlation = 3});
    script.activity({.name = "d", .start = on_device(kStart + 500), .duration = 10});  // Its call is not known.
    script.end(kStart + 900'000);
    const auto at = [](std::uint64_t ns) { return static_cast<std::int64_t>(kStart + kHostOffset + ns); };
    using Points = std::vector<std::pair<std::int64_t, std::int64_t>>;
    CHECK(decode(script).counters.at("queue depth") ==
          Points{{at(0), 0}, {at(120), 1}, {at(220), 2}, {at(400), 1}, {at(410), 0}});
    const auto model = timeline_of(script);
    const auto depths = analysis::queue_depths(*model, *model->timeline);
    REQUIRE(depths.size() == 1);
    CHECK(depths[0].waiting.average == Approx((280.0 + 190.0) / 1e6));  // The same area as the counter's.
}

TEST_CASE("a graph's launch has an arrow to each of its kernels", "[export]") {
    TraceBuilder script = begun_trace();
    script.graph_exec(kStart + 50, 0xe1, 9, 2);
    script.graph_nodes(kStart + 50, 0xe1, {{3, 0, 0xf1, 0}, {4, 0, 0xf1, 0}});
    script.call({.api = graph_launch(), .begin = kStart + 60, .end = kStart + 70, .correlation = 5, .exec = 0xe1});
    for (const std::uint64_t node : {3U, 4U}) {
        script.activity({.name = "node",
                         .start = on_device(kStart + 100 * node),
                         .duration = 10,
                         .correlation = 5,
                         .graph_exec_id = 9,
                         .graph_node = node});
    }
    script.end(kStart + 900'000);
    const Decoded decoded = decode(script);
    const std::vector<std::uint64_t>& flows = decoded.flows.at("cudaGraphLaunch");
    CHECK(std::set<std::uint64_t>(flows.begin(), flows.end()).size() == 2);
    CHECK(flows == decoded.ending_flows.at("node"));
    CHECK(decoded.interned == 2);  // Each name is told once.
}

TEST_CASE("kernels of a stream that overlap are all there, on tracks of one name and parent", "[export]") {
    TraceBuilder script = begun_trace();
    script.device(0, "GPU");
    script.activity({.name = "a", .start = on_device(kStart + 100), .duration = 50, .correlation = 1});
    script.activity({.name = "b", .start = on_device(kStart + 120), .duration = 10, .correlation = 2});
    script.activity({.name = "c", .start = on_device(kStart + 160), .duration = 50, .correlation = 3});
    script.end(kStart + 900'000);
    const Decoded decoded = decode(script);
    CHECK(decoded.events_of("stream 7") == std::vector<std::string>{"a()c()", "b()"});
    std::set<std::uint64_t> parents;
    for (const auto& [uuid, track] : decoded.tracks) {
        if (track.name() == "stream 7") {
            parents.insert(track.parent_uuid());
        }
    }
    REQUIRE(parents.size() == 1);
    CHECK(decoded.tracks.at(*parents.begin()).name() == "GPU 0: GPU");
}

TEST_CASE("times are of CLOCK_MONOTONIC, and a name that is not UTF-8 becomes one that is", "[export]") {
    TraceBuilder script = begun_trace();
    script.activity({.name = "bad\xff", .start = on_device(kStart + 100), .duration = 50, .correlation = 1});
    script.end(kStart + 900'000);
    const Decoded decoded = decode(script);
    std::vector<std::uint64_t> times;
    for (const perfetto::TracePacket& packet : decoded.trace.packet()) {
        if (packet.track_event().type() == TrackEvent::TYPE_SLICE_BEGIN) {
            times.push_back(packet.timestamp());
        }
    }
    CHECK(times == std::vector<std::uint64_t>{kStart + kHostOffset + 100});
    CHECK(decoded.events_of("stream 7") == std::vector<std::string>{"bad\xef\xbf\xbd()"});
    CHECK(decoded.trace.packet(0).trace_packet_defaults().timestamp_clock_id() == perfetto::BUILTIN_CLOCK_MONOTONIC);
}

TEST_CASE("NVTX ranges have tracks of their own, a thread's for each domain", "[export]") {
    TraceBuilder script = begun_trace();
    const auto range = [&](abi::RangeKind kind, std::uint64_t at, std::uint64_t id, const char* name,
                           const char* domain = "") {
        script.range({.kind = kind, .ticks = kStart + at, .id = id, .domain = domain, .name = name});
    };
    script.call({.api = runtime_launch(), .begin = kStart + 130, .end = kStart + 140});
    range(abi::RangeKind::kPush, 100, 0, "outer");
    range(abi::RangeKind::kStart, 105, 7, "first");
    range(abi::RangeKind::kPush, 110, 1, "inner");
    range(abi::RangeKind::kMark, 120, 0, "mark");
    range(abi::RangeKind::kPush, 125, 0, "other", "domain");
    range(abi::RangeKind::kStart, 126, 8, "second");
    range(abi::RangeKind::kPop, 150, 1, "");
    range(abi::RangeKind::kPop, 160, 0, "", "domain");
    range(abi::RangeKind::kEnd, 170, 7, "");
    range(abi::RangeKind::kEnd, 180, 8, "");
    range(abi::RangeKind::kPop, 200, 0, "");
    script.end(kStart + 900'000);
    const Decoded decoded = decode(script);
    CHECK(decoded.events_of("NVTX") == std::vector<std::string>{"outer(inner(!mark))"});
    CHECK(decoded.events_of("NVTX: domain") == std::vector<std::string>{"other()"});
    CHECK(decoded.events_of("NVTX start/end") == std::vector<std::string>{"first()", "second()"});
    for (const auto& [uuid, track] : decoded.tracks) {
        if (track.name() == "NVTX start/end") {
            CHECK(decoded.tracks.at(track.parent_uuid()).has_process());
        } else if (track.name().rfind("NVTX", 0) == 0) {
            CHECK(decoded.tracks.at(track.parent_uuid()).thread().tid() == 100);
        }
    }
}

TEST_CASE("a thread that has ranges and makes no call has tracks", "[export]") {
    TraceBuilder script = begun_trace();
    script.range({.kind = abi::RangeKind::kPush, .ticks = kStart + 100, .id = 0, .name = "open"});
    script.end(kStart + 900'000);
    const Decoded decoded = decode(script);
    CHECK(decoded.events_of("NVTX") == std::vector<std::string>{"open()"});
}

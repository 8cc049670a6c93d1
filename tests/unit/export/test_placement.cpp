// Tracks: device records that overlap, counters, calls that do not nest.
#include <catch2/catch.hpp>

#include <string>

#include "analysis/export/launch_rows.hpp"
#include "analysis/export/nested_tracks.hpp"
#include "analysis/export/perfetto/counters.hpp"
#include "analysis/export/placement.hpp"

using namespace gpuspy::analysis;

namespace {

/// A timeline whose device clock is `offset` ahead.
struct Script {
    Timeline timeline;
    std::int64_t offset = 1000;

    Script() {
        timeline.begin_ns = 0;
        timeline.device_clock_known = true;
    }
    void kernel(std::int64_t begin_ns, std::int64_t duration_ns, std::uint64_t stream = 7, std::uint64_t device = 0) {
        DeviceActivity& activity = timeline.activities.emplace_back();
        activity.timed = true;
        activity.begin_ns = begin_ns;
        activity.end_ns = begin_ns + duration_ns;
        activity.record.device = device;
        activity.record.stream = stream;
        activity.record.start_ns = static_cast<std::uint64_t>(begin_ns + offset);
        activity.record.duration_ns = static_cast<std::uint64_t>(duration_ns);
    }
};

}  // namespace

TEST_CASE("records one after the other stand on one track, of their stream", "[export]") {
    Script script;
    script.kernel(0, 10);
    script.kernel(10, 10);  // Begins when the other has ended.
    script.kernel(15, 10, 9);
    script.kernel(5, 10, 7, 1);
    const Placement placement = place_activities(script.timeline);
    REQUIRE(placement.tracks.size() == 3);
    CHECK(placement.tracks[0].activities.size() == 2);
    CHECK(placement.tracks[1].stream == 9);
    CHECK(placement.tracks[2].device == 1);
    CHECK(placement.clock_known);
    CHECK(remarks(placement).empty());
}

TEST_CASE("records of a stream that overlap go to as many siblings as run at once", "[export]") {
    Script script;
    script.kernel(0, 100);
    script.kernel(50, 100);  // Over the first.
    script.kernel(60, 10);   // Over both.
    script.kernel(80, 10);   // The third is free again.
    script.kernel(100, 10);  // The first is.
    const Placement placement = place_activities(script.timeline);
    REQUIRE(placement.tracks.size() == 3);
    const auto on = [&](std::size_t track) {
        std::vector<std::uint32_t> activities;
        for (const PlacedActivity& placed : placement.tracks[track].activities) {
            activities.push_back(placed.activity);
        }
        return activities;
    };
    CHECK(on(0) == std::vector<std::uint32_t>{0, 4});
    CHECK(on(1) == std::vector<std::uint32_t>{1});
    CHECK(on(2) == std::vector<std::uint32_t>{2, 3});
    CHECK(placement.tracks[2].sibling == 2);
}

TEST_CASE("what overlaps by the conversion of clocks alone does not go to a sibling", "[export]") {
    Script script;
    script.kernel(0, 10);
    script.kernel(10, 10);
    script.timeline.activities[1].begin_ns = 9;  // Of the device it begins at 10.
    const Placement placement = place_activities(script.timeline);
    REQUIRE(placement.tracks.size() == 1);
    CHECK(placement.tracks[0].activities[0].end_ns == 9);
    CHECK(placement.tracks[0].activities[1].end_ns == 19);
}

TEST_CASE("a record without a time is on no track, and is counted", "[export]") {
    Script script;
    script.kernel(0, 10);
    script.kernel(0, 10);
    script.timeline.activities[0].timed = false;
    const Placement placement = place_activities(script.timeline);
    REQUIRE(placement.tracks.size() == 1);
    CHECK(placement.tracks[0].activities.size() == 1);
    CHECK(placement.untimed == 1);
    REQUIRE(remarks(placement).size() == 1);
    CHECK(remarks(placement)[0] == "1 device record without a usable time is left out");
}

TEST_CASE("device records whose clock is not known begin with the recording, and it is said", "[export]") {
    Script script;
    script.timeline.device_clock_known = false;
    script.timeline.begin_ns = 500;
    script.kernel(9000, 10);
    script.kernel(9100, 10);
    const Placement placement = place_activities(script.timeline);
    REQUIRE(placement.tracks.size() == 1);
    CHECK(placement.tracks[0].activities[0].begin_ns == 500);
    CHECK(placement.tracks[0].activities[1].begin_ns == 600);
    REQUIRE(remarks(placement).size() == 1);
    CHECK(remarks(placement)[0].find("not known") != std::string::npos);
}

TEST_CASE("a counter has a point for each moment at which it changes", "[export]") {
    using Points = std::vector<perfetto::CounterPoint>;
    CHECK(perfetto::counter({{5, 1}, {9, -1}, {9, 1}, {12, -1}}) == Points{{5, 1}, {12, 0}});
    CHECK(perfetto::counter({}).empty());
    Script script;
    script.kernel(0, 10);
    script.kernel(5, 10, 9);
    script.kernel(0, 10, 7, 1);
    const Placement placement = place_activities(script.timeline);
    CHECK(perfetto::in_flight(placement, 0) == Points{{0, 1}, {5, 2}, {10, 1}, {15, 0}});
    CHECK(perfetto::in_flight(placement, 1) == Points{{0, 1}, {10, 0}});
}

TEST_CASE("calls nest; one that reaches beyond the call around it goes to a sibling", "[export]") {
    std::string log;
    NestedTracks tracks([&](std::size_t sibling,
                            std::uint32_t call) { log += " b" + std::to_string(sibling) + ":" + std::to_string(call); },
                        [&](std::size_t sibling, std::int64_t end) {
                            log += " e" + std::to_string(sibling) + ":" + std::to_string(end);
                        });
    tracks.add(0, 0, 100);
    tracks.add(1, 10, 20);
    tracks.add(2, 20, 20);   // Lasts no time.
    tracks.add(3, 50, 150);  // Beyond call 0.
    tracks.add(4, 60, 70);
    tracks.finish();
    CHECK(log == " b0:0 b0:1 e0:20 b0:2 e0:20 b1:3 b0:4 e0:70 e0:100 e1:150");
}

TEST_CASE("a call's public name", "[export]") {
    CHECK(public_name("__cudaLaunchKernel") == "cudaLaunchKernel");
    CHECK(public_name("__cudaLaunchKernel_ptsz") == "cudaLaunchKernel");
    CHECK(public_name("cudaMemcpyAsync_ptsz") == "cudaMemcpyAsync");
    CHECK(public_name("cudaMemset_ptds") == "cudaMemset");
    CHECK(public_name("cuMemcpyHtoDAsync_v2") == "cuMemcpyHtoDAsync_v2");
}

// Tracks: device records that overlap, counters, calls that do not nest.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/export/launch_rows.hpp"
#include "analysis/export/nested_tracks.hpp"
#include "analysis/export/perfetto/counters.hpp"
#include "analysis/export/placement.hpp"
#include "tests/unit/analysis/cpu_seconds.hpp"

using namespace gpuspy::analysis;
using gpuspy::test::cpu_seconds;
using gpuspy::test::kNotQuadraticS;

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

TEST_CASE("placement: much at once on one stream has a track each, and not in quadratic time") {
    constexpr std::size_t kCount = 200'000;
    Timeline timeline;
    timeline.device_clock_known = true;
    timeline.end_ns = 2 * kCount;
    timeline.activities.resize(kCount);
    for (std::size_t at = 0; at < kCount; ++at) {
        DeviceActivity& activity = timeline.activities[at];
        activity.timed = true;
        activity.begin_ns = static_cast<std::int64_t>(at);
        activity.end_ns = static_cast<std::int64_t>(at + kCount);
        activity.record.start_ns = at;
        activity.record.duration_ns = kCount;
    }
    Placement placement;
    CHECK(cpu_seconds([&] { placement = place_activities(timeline); }) < kNotQuadraticS);
    REQUIRE(placement.tracks.size() == kCount);
    CHECK(placement.tracks.back().sibling == kCount - 1);
    CHECK(placement.tracks.back().activities.front().activity == kCount - 1);
}

TEST_CASE("nested tracks: what reaches beyond the slice around it, very often") {
    constexpr std::uint32_t kCount = 400'000;
    std::size_t siblings = 0;
    std::vector<std::int64_t> last_of(kCount, -1);
    bool in_order = true;
    std::size_t ended = 0;
    NestedTracks nested([&](std::size_t sibling, std::uint32_t) { siblings = std::max(siblings, sibling + 1); },
                        [&](std::size_t sibling, std::int64_t end_ns) {
                            ++ended;
                            in_order = in_order && last_of[sibling] <= end_ns;
                            last_of[sibling] = end_ns;
                        });
    CHECK(cpu_seconds([&] {
              for (std::uint32_t at = 0; at < kCount; ++at) {
                  nested.add(at, at, std::int64_t{at} + kCount);
              }
              nested.finish();
          }) < kNotQuadraticS);
    CHECK(siblings == kCount);
    CHECK(ended == kCount);
    CHECK(in_order);
}

TEST_CASE("nested tracks: what fits into the slice around it stays there, what has ended makes room") {
    std::vector<std::string> said;
    NestedTracks nested(
        [&](std::size_t sibling, std::uint32_t position) { said.push_back(fmt::format("{}<{}", sibling, position)); },
        [&](std::size_t sibling, std::int64_t end_ns) { said.push_back(fmt::format("{}>{}", sibling, end_ns)); });
    nested.add(0, 0, 100);
    nested.add(1, 10, 50);
    nested.add(2, 20, 60);   // Beyond 1.
    nested.add(3, 30, 60);   // Beyond 1, inside 2.
    nested.add(4, 50, 100);  // Where 1 was.
    nested.add(5, 100, 110);
    nested.finish();
    CHECK(said == std::vector<std::string>{"0<0", "0<1", "1<2", "1<3", "0>50", "0<4", "1>60", "1>60", "0>100", "0>100",
                                           "0<5", "0>110"});
}

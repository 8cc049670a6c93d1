#include "collector/ring/clock.hpp"

#include <catch2/catch.hpp>

using namespace gpuspy::ring;

TEST_CASE("the counter never runs backwards on one thread") {
    std::uint64_t last = ticks();
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t now = ticks();
        REQUIRE(now >= last);
        last = now;
    }
}

TEST_CASE("a rate comes from two pairs of readings") {
    REQUIRE(estimate_tick_hz({1'000, 50}, {3'001'000, 1'000'050}) == 3'000'000'000U);
    REQUIRE(estimate_tick_hz({0, 0}, {2'000'000'000, 1'000'000'000}) == 2'000'000'000U);
}

TEST_CASE("pairs that are too close or out of order give no rate") {
    REQUIRE(estimate_tick_hz({0, 0}, {3'000, 999'999}) == 0);
    REQUIRE(estimate_tick_hz({0, 2'000'000}, {3'000, 0}) == 0);
    REQUIRE(estimate_tick_hz({5'000, 0}, {3'000, 2'000'000}) == 0);
}

TEST_CASE("a clock that does not exist reads as 0") {
    REQUIRE(read_clock_ns(12345) == 0);
}

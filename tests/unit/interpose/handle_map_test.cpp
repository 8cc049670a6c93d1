#include "interpose/record/handle_map.hpp"

#include <catch2/catch.hpp>

using gpuspy::hook::HandleMap;

TEST_CASE("a handle has the value that was set last") {
    static HandleMap map;
    CHECK(map.get(0x1000) == 0);
    map.set(0x1000, 5);
    CHECK(map.get(0x1000) == 5);
    map.set(0x1000, 6);  // a handle that came back
    CHECK(map.get(0x1000) == 6);
    CHECK(map.get(0x1010) == 0);
}

TEST_CASE("a hundred thousand handles keep their values apart") {
    // As an allocator gives them: 8 MiB apart in groups, 64 bytes apart within.
    constexpr std::uint64_t kGroups = 100;
    constexpr std::uint64_t kHandles = 1000;
    const auto handle = [](std::uint64_t group, std::uint64_t at) {
        return 0x7f0000000000U + (group << 23) + (at << 6);
    };
    static HandleMap map;
    for (std::uint64_t group = 0; group < kGroups; ++group) {
        for (std::uint64_t at = 0; at < kHandles; ++at) map.set(handle(group, at), group * kHandles + at + 1);
    }
    std::uint64_t wrong = 0;
    for (std::uint64_t group = 0; group < kGroups; ++group) {
        for (std::uint64_t at = 0; at < kHandles; ++at) {
            if (map.get(handle(group, at)) != group * kHandles + at + 1) ++wrong;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("more handles than there is room for: some are not known, none is wrong") {
    constexpr std::uint64_t kRoom = std::uint64_t{1} << 20;
    constexpr std::uint64_t kHandles = kRoom + kRoom / 8;
    static HandleMap map;
    for (std::uint64_t at = 1; at <= kHandles; ++at) map.set(at << 6, at);
    std::uint64_t known = 0;
    std::uint64_t wrong = 0;
    for (std::uint64_t at = 1; at <= kHandles; ++at) {
        const std::uint64_t value = map.get(at << 6);
        known += value == at ? 1 : 0;
        wrong += value != at && value != 0 ? 1 : 0;
    }
    CHECK(wrong == 0);
    CHECK(known > kRoom / 2);
    CHECK(known <= kRoom);
}

#include "interpose/record/owners.hpp"

#include <catch2/catch.hpp>

using gpuspy::hook::node_owner;
using gpuspy::hook::set_node_owner;

TEST_CASE("a node has the owner that was set last") {
    CHECK(node_owner(0x1000) == 0);
    set_node_owner(0x1000, 5);
    CHECK(node_owner(0x1000) == 5);
    set_node_owner(0x1000, 6);  // a handle that came back
    CHECK(node_owner(0x1000) == 6);
    CHECK(node_owner(0x1010) == 0);
}

TEST_CASE("a hundred thousand nodes keep their owners apart") {
    // Handles as an allocator gives them: 8 MiB apart in groups, 64 bytes apart within.
    constexpr std::uint64_t kGroups = 100;
    constexpr std::uint64_t kNodes = 1000;
    const auto handle = [](std::uint64_t group, std::uint64_t node) { return 0x7f0000000000U + (group << 23) + (node << 6); };
    for (std::uint64_t group = 0; group < kGroups; ++group) {
        for (std::uint64_t node = 0; node < kNodes; ++node) set_node_owner(handle(group, node), group * kNodes + node + 1);
    }
    std::uint64_t wrong = 0;
    for (std::uint64_t group = 0; group < kGroups; ++group) {
        for (std::uint64_t node = 0; node < kNodes; ++node) {
            if (node_owner(handle(group, node)) != group * kNodes + node + 1) ++wrong;
        }
    }
    CHECK(wrong == 0);
}

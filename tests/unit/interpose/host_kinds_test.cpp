#include "interpose/device/host_kinds.hpp"

#include <catch2/catch.hpp>
#include <cstdint>

namespace gpuspy::hook {
namespace {

constexpr auto kKernels = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
constexpr auto kCopies = CUPTI_ACTIVITY_KIND_MEMCPY;
constexpr auto kDriver = CUPTI_ACTIVITY_KIND_DRIVER;
constexpr KindScope kEverywhere{};

constexpr KindScope context(std::uint64_t id) {
    return {KindScope::kContext, id};
}
constexpr KindScope function(std::uint64_t id) {
    return {KindScope::kFunction, id};
}

}  // namespace

TEST_CASE("kinds of the host's: whole, by context, by function") {
    forget_hosts_kinds();
    REQUIRE(hosts_kinds() == 0);

    SECTION("a kind is enabled once, and disabled once") {
        REQUIRE(add_hosts_kind(kKernels, kEverywhere));
        REQUIRE_FALSE(add_hosts_kind(kKernels, kEverywhere));
        REQUIRE(add_hosts_kind(kCopies, kEverywhere));
        REQUIRE(hosts_kinds() == (bit_of(kKernels) | bit_of(kCopies)));
        REQUIRE(remove_hosts_kind(kKernels, kEverywhere) == bit_of(kCopies));
        REQUIRE(remove_hosts_kind(kCopies, kEverywhere) == 0);
    }
    SECTION("the last context's end is the kind's") {
        REQUIRE(add_hosts_kind(kKernels, context(1)));
        REQUIRE_FALSE(add_hosts_kind(kKernels, context(1)));
        REQUIRE(add_hosts_kind(kKernels, context(2)));
        REQUIRE(add_hosts_kind(kCopies, context(2)));
        REQUIRE(remove_hosts_kind(kKernels, context(1)) == (bit_of(kKernels) | bit_of(kCopies)));
        REQUIRE(remove_hosts_kind(kKernels, context(1)) == (bit_of(kKernels) | bit_of(kCopies)));
        REQUIRE(remove_hosts_kind(kKernels, context(2)) == bit_of(kCopies));
    }
    SECTION("what holds for a context supersedes what holds everywhere") {
        add_hosts_kind(kKernels, kEverywhere);
        REQUIRE(remove_hosts_kind(kKernels, context(1)) == bit_of(kKernels));
        add_hosts_kind(kKernels, context(1));
        REQUIRE(remove_hosts_kind(kKernels, kEverywhere) == bit_of(kKernels));
        REQUIRE(remove_hosts_kind(kKernels, context(1)) == 0);
    }
    SECTION("the kind as a whole overrides single functions") {
        add_hosts_kind(kDriver, function(307));
        add_hosts_kind(kDriver, function(308));
        REQUIRE(remove_hosts_kind(kDriver, function(307)) == bit_of(kDriver));
        REQUIRE(remove_hosts_kind(kDriver, kEverywhere) == 0);
        add_hosts_kind(kDriver, function(307));
        add_hosts_kind(kDriver, kEverywhere);
        REQUIRE(remove_hosts_kind(kDriver, kEverywhere) == 0);
        REQUIRE(remove_hosts_kind(kDriver, function(307)) == 0);
    }
    SECTION("more than are counted: on until it is disabled everywhere") {
        constexpr std::uint64_t kMany = 3000;
        for (std::uint64_t id = 1; id <= kMany; ++id) {
            add_hosts_kind(kKernels, context(id));
        }
        for (std::uint64_t id = 1; id <= kMany; ++id) {
            REQUIRE(remove_hosts_kind(kKernels, context(id)) == bit_of(kKernels));
        }
        REQUIRE(remove_hosts_kind(kKernels, kEverywhere) == 0);
    }
    SECTION("kinds that were on once are the host's; one comes with another") {
        REQUIRE_FALSE(is_hosts_kind(CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE));
        add_hosts_kind(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, kEverywhere);
        remove_hosts_kind(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, kEverywhere);
        REQUIRE(is_hosts_kind(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
        REQUIRE(is_hosts_kind(CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE));
    }
}

}  // namespace gpuspy::hook

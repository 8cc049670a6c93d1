// The pool of activity buffers, and times of a clock of the host's.
#include "interpose/device/buffers.hpp"

#include <vector>

#include "catch2/catch.hpp"
#include "interpose/device/host_clock.hpp"
#include "interpose/lifecycle/session.hpp"

using namespace gpuspy::hook;

namespace {
std::uint64_t scratch_losses = 0;
std::uint64_t host_time = 0;
std::uint64_t CUPTIAPI host_clock() {
    return host_time;
}
}  // namespace

namespace gpuspy::hook {

// What the library has elsewhere, and works in a host alone.
void count_loss(abi::LossCause cause, std::uint64_t count) noexcept {
    if (cause == abi::LossCause::kScratchBuffer) scratch_losses += count;
}

void keep_loaded(const void*) noexcept {}

}  // namespace gpuspy::hook

TEST_CASE("activity buffers: the pool is bounded, and what CUPTI fills beyond it is counted") {
    REQUIRE(make_activity_buffers());
    std::vector<std::uint8_t*> taken;
    for (std::size_t i = 0; i < kActivityBufferCount; ++i) {
        taken.push_back(take_activity_buffer());
        REQUIRE(is_activity_buffer(taken.back()));
        REQUIRE_FALSE(is_scratch_buffer(taken.back()));
        taken.back()[kActivityBufferBytes - 1] = 1;
    }
    REQUIRE(activity_buffers_in_flight() == kActivityBufferCount);
    std::uint8_t* const scratch = take_activity_buffer();
    REQUIRE(is_scratch_buffer(scratch));
    REQUIRE(take_activity_buffer() == scratch);  // again and again: a null answer crashes the host before CUPTI 12.9
    give_activity_buffer(scratch, {0, false, 0, 0});
    REQUIRE(scratch_losses == 0);
    give_activity_buffer(scratch, {8, false, 0, 0});
    REQUIRE(scratch_losses == 1);

    give_activity_buffer(taken[5], {100, false, 0, 0});
    give_activity_buffer(taken[3], {200, true, 7, 2});
    std::vector<std::size_t> visited;
    visit_activity_buffers(
        [](void* context, std::uint8_t*, const Filled& filled) noexcept {
            static_cast<std::vector<std::size_t>*>(context)->push_back(filled.bytes);
        },
        &visited);
    REQUIRE(visited == std::vector<std::size_t>{100, 200});  // as they came back
    REQUIRE(activity_buffers_in_flight() == kActivityBufferCount - 2);
    REQUIRE_FALSE(is_scratch_buffer(take_activity_buffer()));

    std::uint8_t strangers = 0;
    REQUIRE_FALSE(is_activity_buffer(&strangers));
}

TEST_CASE("a host's clock: times go back on the device's, by the first line that is known") {
    const ClockLine line{1'000'000, 5'000'000'000, 0.2};  // five units a nanosecond
    REQUIRE(line.device_ns(1'000'000) == 5'000'000'000);
    REQUIRE(line.device_ns(1'000'500) == 5'000'000'100);
    REQUIRE(line.device_ns(500'000) == 5'000'000'000 - 100'000);
    REQUIRE(line.device_ns(0) == 0);  // CUPTI's way to say that there is none
    REQUIRE(ClockLine{}.device_ns(77) == 0);

    REQUIRE(current_clock() == 0);
    const std::uint64_t exact = 1'764'000'000'123'456'789;  // more than a double holds
    REQUIRE(lines_of(0).line[0].device_ns(exact) == exact);
    REQUIRE(lines_of(0).line[1].device_ns(exact) == 0);

    int registered = 0;
    static int* count = nullptr;
    count = &registered;
    const RegisterClock original = [](CUpti_TimestampCallbackFunc) {
        ++*count;
        return CUPTI_SUCCESS;
    };
    host_time = 1000;
    REQUIRE(host_sets_clock(original, host_clock, nullptr) == CUPTI_SUCCESS);
    REQUIRE(current_clock() == 1);
    REQUIRE((registered == 1 && is_current_clock(host_clock)));
    REQUIRE_FALSE(is_current_clock(nullptr));
    host_time = 2000;
    read_host_clock(true);  // its rate is not known yet
    const ClockLines lines = lines_of(1);
    REQUIRE(lines.line[0].rate > 0);
    REQUIRE(lines.line[0].device_ns(2000) > lines.line[0].device_ns(1500));
    REQUIRE(lines.line[1].device_ns(exact) == exact);
    REQUIRE(lines_of(2).line[0].rate == 0.0);  // not the one that is set

    forget_host_clock();
    REQUIRE((current_clock() == 0 && !is_current_clock(host_clock)));
    REQUIRE(host_sets_clock(original, host_clock, nullptr) ==
            CUPTI_SUCCESS);  // after cuptiFinalize it must be set anew
    REQUIRE((registered == 2 && current_clock() == 2));
}

#include "tests/fakes/driver/clock.hpp"

#include <atomic>
#include <ctime>

#include "tests/fakes/common/environment.hpp"
#include "tests/fakes/sim.h"

namespace sim {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::uint64_t real_ns() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * kSecondNs + static_cast<std::uint64_t>(time.tv_nsec);
}

const bool manual = environment_is("SIM_CLOCK", "manual");
std::atomic<std::uint64_t> manual_ns{real_ns()};

}  // namespace

std::uint64_t now_ns() {
    return manual ? manual_ns.load() : real_ns();
}

void wait_until_ns(std::uint64_t time_ns) {
    if (manual) {
        std::uint64_t seen = manual_ns.load();
        while (seen < time_ns && !manual_ns.compare_exchange_weak(seen, time_ns)) {
        }
        return;
    }
    const timespec until{static_cast<time_t>(time_ns / kSecondNs), static_cast<long>(time_ns % kSecondNs)};
    while (real_ns() < time_ns) {
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr);
    }
}

}  // namespace sim

extern "C" uint64_t sim_now_ns(void) {
    return sim::now_ns();
}

extern "C" void sim_advance_ns(uint64_t ns) {
    if (sim::manual) {
        sim::manual_ns.fetch_add(ns);
    } else {
        sim::wait_until_ns(sim::now_ns() + ns);
    }
}

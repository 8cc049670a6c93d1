#include "interpose/device/host_clock.hpp"

#include <time.h>

#include <atomic>

#include "collector/ring/clock.hpp"
#include "interpose/device/cupti_host.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook {
namespace {

/// The host's clock and CLOCK_MONOTONIC, read together.
struct Reading {
    std::uint64_t host;
    std::uint64_t monotonic_ns;
};

/// The rate is taken over at least so long, once there is that much.
constexpr std::uint64_t kRateSpanNs = 1'000'000'000;
constexpr std::uint64_t kIntervalNs = 100'000'000;
/// It waits for something of the host's: the drain thread has rings to empty.
constexpr std::uint64_t kSlowNs = 1'000'000;
constexpr std::uint64_t kSlowIntervalNs = 10'000'000'000;

constinit std::atomic<CUpti_TimestampCallbackFunc> host_clock{nullptr};
constinit std::atomic<std::uint32_t> active_clock{0};
constinit std::uint32_t clock_count = 0;                        ///< Under the lock.
constinit std::atomic<std::int64_t> device_minus_monotonic{0};  ///< ns, of CUPTI's own clock when the host set its own.

// Times lie on a line through `latest` with the rate since `base`. Under the lock: the host may set another clock meanwhile.
constinit SetUpLock readings_lock;
constinit Reading base{};
constinit Reading next_base{};
constinit Reading latest{};

/// The tightest of several.
Reading read_together(CUpti_TimestampCallbackFunc clock) noexcept {
    const OutsideGpuspy hosts;
    Reading best{};
    std::uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < 5; ++i) {
        const std::uint64_t before = ring::read_clock_ns(CLOCK_MONOTONIC);
        const std::uint64_t host = clock();
        const std::uint64_t after = ring::read_clock_ns(CLOCK_MONOTONIC);
        if (after - before < best_width) {
            best_width = after - before;
            best = {host, before + (after - before) / 2};
        }
    }
    return best;
}

std::int64_t signed_difference(std::uint64_t a, std::uint64_t b) noexcept {
    return static_cast<std::int64_t>(a - b);
}

}  // namespace

std::uint32_t current_clock() noexcept {
    return active_clock.load(std::memory_order_acquire);
}

bool is_current_clock(CUpti_TimestampCallbackFunc clock) noexcept {
    return clock != nullptr && clock == host_clock.load(std::memory_order_relaxed);
}

CUptiResult host_sets_clock(RegisterClock original, CUpti_TimestampCallbackFunc clock, const CuptiApi* api) noexcept {
    if (current_clock() == 0) {
        const std::uint64_t monotonic_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
        std::uint64_t device_ns = ring::read_clock_ns(CLOCK_REALTIME);  // what CUPTI takes on Linux
        if (api != nullptr) api->get_timestamp(&device_ns);
        device_minus_monotonic.store(signed_difference(device_ns, monotonic_ns), std::memory_order_relaxed);
    }
    const CUptiResult result = original(clock);
    if (result != CUPTI_SUCCESS || clock == nullptr) return result;
    keep_loaded(reinterpret_cast<const void*>(clock));
    const Reading first = read_together(clock);
    const Locked guard(readings_lock);
    base = next_base = latest = first;
    host_clock.store(clock, std::memory_order_relaxed);
    active_clock.store(++clock_count, std::memory_order_release);
    return result;
}

void forget_host_clock() noexcept {
    host_clock.store(nullptr, std::memory_order_relaxed);
    active_clock.store(0, std::memory_order_release);
}

void read_host_clock(bool final) noexcept {
    const CUpti_TimestampCallbackFunc clock = host_clock.load(std::memory_order_relaxed);
    if (clock == nullptr) return;
    static constinit std::uint64_t next_ns = 0;  // the drain thread's own
    static constinit std::uint32_t read_clock = 0;
    const std::uint64_t begin_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
    bool has_rate = false;
    {
        const Locked guard(readings_lock);
        has_rate = latest.host != base.host;
    }
    if (has_rate && (final || (begin_ns < next_ns && read_clock == current_clock()))) return;
    read_clock = current_clock();
    const Reading now = read_together(clock);
    const std::uint64_t end_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
    next_ns = end_ns + (end_ns - begin_ns > kSlowNs ? kSlowIntervalNs : kIntervalNs);
    const Locked guard(readings_lock);
    if (clock != host_clock.load(std::memory_order_relaxed)) return;
    latest = now;
    if (now.monotonic_ns - next_base.monotonic_ns >= kRateSpanNs) {
        base = next_base;
        next_base = now;
    }
}

ClockLines lines_of(std::uint32_t clock) noexcept {
    constexpr ClockLine kDeviceClock{0, 0, 1.0};
    ClockLine hosts;
    {
        const Locked guard(readings_lock);
        const std::uint64_t span = latest.host - base.host;
        if (clock_count != 0 && span != 0 && (clock == 0 || clock == clock_count)) {
            const auto offset = static_cast<std::uint64_t>(device_minus_monotonic.load(std::memory_order_relaxed));
            hosts = {latest.host, latest.monotonic_ns + offset,
                     static_cast<double>(latest.monotonic_ns - base.monotonic_ns) / static_cast<double>(span)};
        }
    }
    return clock == 0 ? ClockLines{{kDeviceClock, hosts}} : ClockLines{{hosts, kDeviceClock}};
}

std::uint64_t device_now_ns(const CuptiApi& api) noexcept {
    std::uint64_t now = 0;
    if (current_clock() == 0) return api.get_timestamp(&now) == CUPTI_SUCCESS ? now : 0;
    return ring::read_clock_ns(CLOCK_MONOTONIC) +
           static_cast<std::uint64_t>(device_minus_monotonic.load(std::memory_order_relaxed));
}

}  // namespace gpuspy::hook

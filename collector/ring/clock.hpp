// The processor's time counter: everything that depends on the processor's clock stands in this file.
#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace gpuspy::ring {

/// Ticks of the invariant counter; not ordered with the instructions around it (a fence would cost more than it tells).
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
#error "gpuspy has no time counter for this processor"
#endif
}

/// Whether the counter runs at one rate in every power state (on x86-64: CPUID 80000007H, EDX bit 8). Where it does
/// not, times between two anchors are less exact.
inline bool ticks_are_invariant() noexcept {
#if defined(__x86_64__)
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8)) != 0;
#else
    return true;
#endif
}

/// Tells the processor that this is a spin loop.
inline void spin_pause() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#else
    __asm__ volatile("yield");
#endif
}

/// A clock of the kernel in ns; 0 where it does not exist.
inline std::uint64_t read_clock_ns(clockid_t clock) noexcept {
    timespec time{};
    if (clock_gettime(clock, &time) != 0) {
        return 0;
    }
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

/// The counter and CLOCK_MONOTONIC at one moment.
struct ClockPair {
    std::uint64_t ticks = 0;
    std::uint64_t monotonic_ns = 0;
};

inline ClockPair read_clock_pair() noexcept {
    const std::uint64_t now = ticks();
    return {now, read_clock_ns(CLOCK_MONOTONIC)};
}

/// Rate of the counter from two pairs, in Hz; 0 when they are too close (under 1 ms) to tell. Good to about 1 ‰ at 1
/// ms.
inline std::uint64_t estimate_tick_hz(const ClockPair& first, const ClockPair& second) noexcept {
    const std::uint64_t ns = second.monotonic_ns - first.monotonic_ns;
    if (second.monotonic_ns <= first.monotonic_ns || second.ticks <= first.ticks || ns < 1'000'000U) {
        return 0;
    }
    const double hz = static_cast<double>(second.ticks - first.ticks) * 1e9 / static_cast<double>(ns);
    return static_cast<std::uint64_t>(hz + 0.5);
}

}  // namespace gpuspy::ring

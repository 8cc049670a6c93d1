// The set-up lock: held for short, by set-up code alone, never across a call of the host's libraries.
#pragma once

#include <sched.h>

#include <atomic>

#include "collector/ring/clock.hpp"

namespace gpuspy::hook {

/// Constant-initialised and forgettable after a fork, which a mutex is not.
class SpinLock {
public:
    constexpr SpinLock() noexcept = default;

    void lock() noexcept {
        // Acquire pairs with the release in unlock(): what the last holder wrote is seen.
        for (unsigned spins = 0; word_.exchange(1, std::memory_order_acquire) != 0; ++spins) {
            if (spins < 64)
                ring::spin_pause();
            else
                sched_yield();
        }
    }
    void unlock() noexcept { word_.store(0, std::memory_order_release); }
    void forget_after_fork() noexcept { word_.store(0, std::memory_order_relaxed); }

private:
    std::atomic<unsigned> word_{0};
};

class Locked {
public:
    explicit Locked(SpinLock& lock) noexcept : lock_(lock) { lock_.lock(); }
    ~Locked() { lock_.unlock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

private:
    SpinLock& lock_;
};

}  // namespace gpuspy::hook

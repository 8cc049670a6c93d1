// The set-up lock: held for short, by set-up code alone, never across a call of the host's libraries.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>

#include "collector/ring/clock.hpp"

namespace gpuspy::hook {

/// Constant-initialised. Holds the process id of its holder: a child that was forked while another thread of its parent held
/// the lock would else wait for ever.
class SpinLock {
public:
    constexpr SpinLock() noexcept = default;

    void lock() noexcept {
        const pid_t self = getpid();
        for (unsigned spins = 0;; ++spins) {
            pid_t holder = 0;
            // Acquire pairs with the release in unlock(): what the last holder wrote is seen.
            if (holder_.compare_exchange_weak(holder, self, std::memory_order_acquire)) return;
            if (holder != 0 && holder != self &&
                holder_.compare_exchange_strong(holder, self, std::memory_order_acquire)) {
                return;
            }
            if (spins < 64) {
                ring::spin_pause();
            } else {
                sched_yield();
            }
        }
    }
    void unlock() noexcept { holder_.store(0, std::memory_order_release); }

private:
    std::atomic<pid_t> holder_{0};
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

// The set-up lock: held for short, by set-up code alone, never across a call of the host's libraries.
#pragma once

#include <unistd.h>

#include <atomic>

#include "collector/ring/clock.hpp"
#include "collector/ring/futex.hpp"
#include "collector/ring/owned_fd.hpp"

namespace gpuspy::hook {

/// Constant-initialised. Spins for a moment, then sleeps. Holds the process id of its holder: a child that was forked while another thread of its parent held
/// the lock would else wait for ever.
class SpinLock {
public:
    constexpr SpinLock() noexcept = default;

    void lock() noexcept {
        const auto self = static_cast<std::uint32_t>(getpid());
        for (unsigned spins = 0;; ++spins) {
            std::uint32_t holder = 0;
            // Acquire pairs with the release in unlock(): what the last holder wrote is seen.
            const std::uint32_t taken = spins < 64 ? self : self | kAwaited;
            if (holder_.compare_exchange_weak(holder, taken, std::memory_order_acquire)) return;
            if (holder != 0 && (holder & ~kAwaited) != self &&
                holder_.compare_exchange_strong(holder, taken, std::memory_order_acquire)) {
                return;
            }
            if (holder == 0) continue;
            if (spins < 64) {
                ring::spin_pause();
            } else if ((holder & kAwaited) != 0 ||
                       holder_.compare_exchange_strong(holder, self | kAwaited, std::memory_order_relaxed)) {
                // A thousand threads may come at once: they sleep, and each of them wakes the next.
                const ring::ErrnoGuard keep_errno;
                ring::futex_wait(holder_, self | kAwaited, kLookAgainNs);
            }
        }
    }
    void unlock() noexcept {
        if ((holder_.exchange(0, std::memory_order_release) & kAwaited) != 0) {
            const ring::ErrnoGuard keep_errno;
            ring::futex_wake_one(holder_);
        }
    }

private:
    static constexpr std::uint32_t kAwaited = std::uint32_t{1} << 31;  ///< Another thread may sleep for it.
    static constexpr std::uint64_t kLookAgainNs = 10'000'000;

    std::atomic<std::uint32_t> holder_{0};
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

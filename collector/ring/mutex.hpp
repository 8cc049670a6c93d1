// A lock without the C library: a host's own locks are not ours to use.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "collector/ring/clock.hpp"
#include "collector/ring/futex.hpp"
#include "collector/ring/owned_fd.hpp"

namespace gpuspy::ring {

/// Constant-initialised. Spins for a moment, then sleeps; holds the process id of its holder. Keeps errno.
class Mutex {
public:
    constexpr Mutex() noexcept = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    /// Waits as long as it takes. From another process it is taken: a child that was forked while another thread of its parent held it
    /// would else wait for ever.
    void lock() noexcept {
        acquire(true, [] { return false; });
    }

    /// False: nobody gave it back for so long. Many threads that come at once wait for each other, as long as they get on. For who may be
    /// the holder himself (a signal handler), or in a child that shares its parent's memory: it is taken from nobody.
    bool lock_while_it_moves(std::uint64_t patience_ns) noexcept {
        std::uint32_t seen = given_back_.load(std::memory_order_relaxed);
        std::uint64_t deadline_ns = read_clock_ns(CLOCK_MONOTONIC) + patience_ns;
        return acquire(false, [&] {
            const std::uint64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
            const std::uint32_t count = given_back_.load(std::memory_order_relaxed);
            if (count == seen) return now_ns > deadline_ns;
            seen = count;
            deadline_ns = now_ns + patience_ns;
            return false;
        });
    }

    void unlock() noexcept {
        given_back_.fetch_add(1, std::memory_order_relaxed);
        // Acquired by the next one in acquire().
        if ((holder_.exchange(0, std::memory_order_release) & kAwaited) != 0) {
            const ErrnoGuard keep_errno;
            futex_wake_one(holder_);
        }
    }

    /// In a forked child, where no other thread exists.
    void forget_after_fork() noexcept {
        holder_.store(0, std::memory_order_relaxed);
        given_back_.store(0, std::memory_order_relaxed);
    }

private:
    static constexpr std::uint32_t kAwaited = std::uint32_t{1} << 31;  ///< Another thread may sleep for it.
    static constexpr std::uint64_t kLookAgainNs = 10'000'000;
    static constexpr unsigned kSpins = 64;

    /// `gives_up` is asked after each sleep.
    template <class GivesUp>
    bool acquire(bool takes_others, GivesUp gives_up) noexcept {
        const auto self = static_cast<std::uint32_t>(getpid());
        for (unsigned spins = 0;; ++spins) {
            // Who has slept may not be the last who does.
            const std::uint32_t taken = spins < kSpins ? self : self | kAwaited;
            std::uint32_t holder = 0;
            // Acquire pairs with the release in unlock(): what the last holder wrote is seen.
            if (holder_.compare_exchange_weak(holder, taken, std::memory_order_acquire)) return true;
            if (holder == 0) continue;
            if (takes_others && (holder & ~kAwaited) != self &&
                holder_.compare_exchange_strong(holder, taken, std::memory_order_acquire)) {
                return true;
            }
            if (spins < kSpins) {
                spin_pause();
            } else if ((holder & kAwaited) != 0 ||
                       holder_.compare_exchange_strong(holder, holder | kAwaited, std::memory_order_relaxed)) {
                // A thousand threads may come at once: they sleep, and each of them wakes the next.
                const ErrnoGuard keep_errno;
                futex_wait(holder_, holder | kAwaited, kLookAgainNs);
                if (gives_up()) return false;
            }
        }
    }

    std::atomic<std::uint32_t> holder_{0};
    std::atomic<std::uint32_t> given_back_{0};  ///< How often: who waits sees others get on.
};

/// Holds it for a block.
class Locked {
public:
    explicit Locked(Mutex& mutex) noexcept : mutex_(mutex) { mutex_.lock(); }
    ~Locked() { mutex_.unlock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

private:
    Mutex& mutex_;
};

}  // namespace gpuspy::ring

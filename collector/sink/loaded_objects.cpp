#include "collector/sink/loaded_objects.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>

#include "collector/ring/clock.hpp"
#include "collector/ring/owned_fd.hpp"

namespace gpuspy::sink {

namespace {

/// The limit is for what cannot be: who is waited for waits for us.
constexpr std::uint64_t kMaxWaitNs = 1'000'000'000;

constinit std::atomic<std::uint32_t> visiting_threads{0};
constinit std::atomic<std::uint32_t> forking_threads{0};
/// A visit within a visit does not wait: the fork waits for the outer one.
constinit thread_local std::uint32_t own_visits = 0;

/// Until the count is 0, or the time is over.
void wait_for_none(const std::atomic<std::uint32_t>& count) noexcept {
    const ring::ErrnoGuard keep_errno;
    std::uint64_t deadline_ns = 0;
    for (unsigned spins = 0; count.load(std::memory_order_seq_cst) != 0; ++spins) {
        if (spins < 64) {
            ring::spin_pause();
            continue;
        }
        const std::uint64_t now_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
        if (deadline_ns == 0) {
            deadline_ns = now_ns + kMaxWaitNs;
        } else if (now_ns > deadline_ns) {
            return;
        }
        sched_yield();
    }
}

// Of these two sequences, each of which writes one count and then reads the other, at least one sees the other's write: hence the total order.

void begin_visit() noexcept {
    if (own_visits++ != 0) {
        return;
    }
    constexpr int kMaxForksInTurn = 16;
    visiting_threads.fetch_add(1, std::memory_order_seq_cst);
    for (int i = 0; i < kMaxForksInTurn && forking_threads.load(std::memory_order_seq_cst) != 0; ++i) {
        visiting_threads.fetch_sub(1, std::memory_order_seq_cst);
        wait_for_none(forking_threads);
        visiting_threads.fetch_add(1, std::memory_order_seq_cst);
    }
}

void end_visit() noexcept {
    if (--own_visits == 0) {
        visiting_threads.fetch_sub(1, std::memory_order_release);
    }
}

/// What other handlers look up on this thread meanwhile must not wait for it.
void before_fork() noexcept {
    ++own_visits;
    forking_threads.fetch_add(1, std::memory_order_seq_cst);
    wait_for_none(visiting_threads);
}

void after_fork() noexcept {
    forking_threads.fetch_sub(1, std::memory_order_release);
    --own_visits;
}

void after_fork_in_child() noexcept {
    --own_visits;
    forking_threads.store(0, std::memory_order_relaxed);
    visiting_threads.store(own_visits == 0 ? 0 : 1, std::memory_order_relaxed);
}

}  // namespace

int visit_loaded_objects(int (*visit)(dl_phdr_info*, std::size_t, void*), void* context) noexcept {
    begin_visit();
    const int result = dl_iterate_phdr(visit, context);
    end_visit();
    return result;
}

void keep_forks_off_loaded_objects() noexcept {
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

}  // namespace gpuspy::sink

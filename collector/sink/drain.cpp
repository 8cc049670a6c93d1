#include "collector/sink/drain.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <ctime>

#include "collector/ring/clock.hpp"
#include "collector/ring/futex.hpp"
#include "collector/ring/owned_fd.hpp"
#include "collector/sink/memory.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;

/// Waits until `done(word)`. False: not within the time.
template <class Done>
bool wait_for(std::atomic<std::uint32_t>& word, std::uint32_t timeout_ms, Done&& done) noexcept {
    constexpr std::uint64_t kLookAgainNs = 50 * kNsPerMs;  // `done` may look at more than the word.
    const ring::ErrnoGuard keep_errno;
    const std::uint64_t deadline_ns = ring::read_clock_ns(CLOCK_MONOTONIC) + timeout_ms * kNsPerMs;
    for (;;) {
        const std::uint32_t value = word.load(std::memory_order_acquire);
        if (done(value)) {
            return true;
        }
        const std::uint64_t now_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
        if (now_ns >= deadline_ns) {
            return false;
        }
        const std::uint64_t left_ns = deadline_ns - now_ns;
        ring::futex_wait(word, value, left_ns < kLookAgainNs ? left_ns : kLookAgainNs);
    }
}

}  // namespace

int Drain::init(ring::RingSet& rings, TraceWriter& writer, const DeviceSource& source,
                const DrainConfig& config) noexcept {
    rings_ = &rings;
    writer_ = &writer;
    source_ = source;
    config_ = config;
    buffer_ = map_memory<std::uint8_t>(kBlockBytes);
    states_ = map_memory<RingState>(abi::kMaxRings);
    int error = buffer_ == nullptr || states_ == nullptr ? ENOMEM : 0;
    error = error != 0 ? error : encoder_.init(buffer_, kBlockBytes, rings.apis(), rings.header()->api_count);
    error = error != 0 || config.kept.bytes == 0 ? error : init_recorder();
    if (error != 0) {
        destroy();
        return error;
    }
    // Until the first block is committed a salvager keeps the trace's header and nothing else.
    rings.header()->committed_file_bytes[0] = writer.file_bytes();
    return 0;
}

int Drain::start() noexcept {
    running_.store(1, std::memory_order_release);
    const int error = start_own_thread(config_.create_thread, &Drain::thread_main, this);
    if (error != 0) {
        running_.store(0, std::memory_order_release);
    }
    return error;
}

void* Drain::thread_main(void* self) noexcept {
    prctl(PR_SET_NAME, "gpuspy");
    static_cast<Drain*>(self)->run();
    return nullptr;
}

void Drain::run() noexcept {
    for (;;) {
        const std::uint32_t request = requests_.load(std::memory_order_acquire);
        // As the last thread: end, and so end the process as its last thread would have (glibc calls exit).
        const bool final = stopping_.load(std::memory_order_acquire) || last_thread_check_.is_last_thread();
        run_pass(final);
        if (final) {
            rings_->mark_ended_and_unlink();
        }
        // Pairs with flush(): who sees it sees the pass done.
        served_.store(request, std::memory_order_release);
        ring::futex_wake_all(served_);
        if (final) {
            // Pairs with stop(). The last access to this object: the waiter may destroy it. The wake uses the address
            // alone.
            running_.store(0, std::memory_order_release);
            ring::futex_wake_all(running_);
            return;
        }
        sleep();
    }
}

void Drain::sleep() noexcept {
    std::uint32_t expected = kAwake;
    // Fails when somebody called wake() during the pass: then there is work now.
    if (activity_.compare_exchange_strong(expected, kAsleep, std::memory_order_acq_rel)) {
        ring::futex_wait(activity_, kAsleep, config_.interval_ms * kNsPerMs);
    }
    activity_.store(kAwake, std::memory_order_release);
}

void Drain::wake() noexcept {
    if (activity_.load(std::memory_order_relaxed) == kWoken) {
        return;
    }
    if (activity_.exchange(kWoken, std::memory_order_acq_rel) == kAsleep) {
        const ring::ErrnoGuard keep_errno;
        ring::futex_wake_all(activity_);
    }
}

bool Drain::flush(std::uint32_t timeout_ms) noexcept {
    if (!is_running()) {
        return false;
    }
    const std::uint32_t request = requests_.fetch_add(1, std::memory_order_acq_rel) + 1;
    const auto is_served = [&](std::uint32_t served) { return static_cast<std::int32_t>(served - request) >= 0; };
    wake();
    // The thread may take its last pass without having seen this request.
    wait_for(served_, timeout_ms, [&](std::uint32_t served) { return is_served(served) || !is_running(); });
    return is_served(served_.load(std::memory_order_acquire));
}

bool Drain::stop(std::uint32_t timeout_ms) noexcept {
    if (!is_running()) {
        return false;
    }
    stopping_.store(true, std::memory_order_release);
    wake();
    return wait_for(running_, timeout_ms, [](std::uint32_t running) { return running == 0; });
}

void Drain::destroy() noexcept {
    encoder_.destroy();
    objects_.destroy();
    recorder_.forget_after_fork();
    facts_.destroy();
    origins_.destroy();
    open_ranges_.destroy();
    unmap_memory(buffer_, kBlockBytes);
    unmap_memory(states_, abi::kMaxRings);
    buffer_ = nullptr;
    states_ = nullptr;
}

void Drain::forget_after_fork() noexcept {
    destroy();
    rings_ = nullptr;
    writer_ = nullptr;
    source_ = {};
    config_ = {};
    segment_raw_bytes_ = 0;
    last_anchor_ns_ = 0;
    last_costs_ns_ = 0;
    last_objects_ticks_ = 0;
    for (std::uint64_t& told : told_lost_) {
        told = 0;
    }
    first_facts_told_ = false;
    is_write_error_noted_ = false;
    is_saying_again_ = false;
    say_again_error_ = 0;
    appended_blocks_ = 0;
    appended_bytes_ = 0;
    activity_.store(kAwake, std::memory_order_relaxed);
    requests_.store(0, std::memory_order_relaxed);
    served_.store(0, std::memory_order_relaxed);
    stopping_.store(false, std::memory_order_relaxed);
    running_.store(0, std::memory_order_relaxed);
}

}  // namespace gpuspy::sink

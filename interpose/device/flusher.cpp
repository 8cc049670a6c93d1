#include "interpose/device/flusher.hpp"

#include <atomic>

#include "collector/sink/last_thread.hpp"
#include "collector/sink/own_thread.hpp"
#include "interpose/device/host_records.hpp"
#include "interpose/lifecycle/glibc.hpp"
#include "interpose/lifecycle/wait.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook {
namespace {

constexpr long kPeriodNs = 200'000'000;

enum class Flusher : std::uint32_t { kNone, kAsleep, kFlushing };

constinit std::atomic<Flusher> flusher{Flusher::kNone};
constinit std::atomic<bool> stops{false};
using Flush = void (*)() noexcept;
constinit Flush flush_function = nullptr;

void* flusher_main(void*) noexcept {
    const InsideGpuspy inside;  // what CUPTI calls on this thread is not the host's
    hide_calls_of_this_thread();
    while (!stops.load(std::memory_order_acquire)) {
        pause_ns(kPeriodNs);
        flusher.store(Flusher::kFlushing, std::memory_order_seq_cst);
        if (!stops.load(std::memory_order_seq_cst)) flush_function();
        flusher.store(Flusher::kAsleep, std::memory_order_release);
    }
    sink::other_own_threads.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
}

}  // namespace

void start_flusher(void (*flush)() noexcept) noexcept {
    Flusher none = Flusher::kNone;
    if (!flusher.compare_exchange_strong(none, Flusher::kAsleep, std::memory_order_acq_rel)) return;
    flush_function = flush;
    sink::other_own_threads.fetch_add(1, std::memory_order_relaxed);
    const int error = sink::start_own_thread(gpuspy_pthread_create, flusher_main, nullptr);
    if (error != 0) sink::other_own_threads.fetch_sub(1, std::memory_order_relaxed);
}

void stop_flusher() noexcept {
    stops.store(true, std::memory_order_seq_cst);
    constexpr int kMaxWaitMs = 500;
    wait_until(kMaxWaitMs, [] { return flusher.load(std::memory_order_seq_cst) != Flusher::kFlushing; });
}

void forget_flusher() noexcept {
    flusher.store(Flusher::kNone, std::memory_order_relaxed);
    stops.store(false, std::memory_order_relaxed);
    sink::other_own_threads.store(0, std::memory_order_relaxed);
}

}  // namespace gpuspy::hook

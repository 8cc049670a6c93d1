// The drain thread: moves events from rings, and device records from their source, into the trace.
//
// A pass (run_pass) is a function of its own, so that tests drive it step by step. Its commit follows the protocol of
// abi/ring_layout.hpp: append the block, store size and positions in the slot that is not current, store commit_seq, only
// then move the tails.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "collector/ring/ring_set.hpp"
#include "collector/sink/encoder.hpp"
#include "collector/sink/object_map.hpp"
#include "collector/sink/trace_writer.hpp"

namespace gpuspy::sink {

class Drain;

/// Where a source puts records. Full blocks are written on the way: nothing can be refused. For the duration of the call.
class RecordSink {
public:
    explicit RecordSink(Drain& drain) noexcept : drain_(drain) {}

    void kernel(const KernelRecord& record) noexcept;
    void memcpy(const MemcpyRecord& record) noexcept;
    void memset(const MemsetRecord& record) noexcept;
    void device(const DeviceInfo& device) noexcept;
    void info(const char* key, const char* value) noexcept;
    void span(std::uint64_t ticks, abi::SpanKind what, bool on, const char* reason) noexcept;
    void loss(abi::LossCause cause, std::uint64_t count) noexcept;
    void notice(std::uint64_t ticks, const char* text) noexcept;

private:
    Drain& drain_;
};

/// Device records and everything else that does not come through a ring. Called on the drain thread alone; members may be
/// nullptr.
struct DeviceSource {
    void* self = nullptr;
    /// Hands over what is there; `final`: the last time.
    void (*collect)(void* self, RecordSink& sink, bool final) noexcept = nullptr;
    /// The clock of DeviceRecord::start_ns, now; 0: none.
    std::uint64_t (*clock_ns)(void* self) noexcept = nullptr;
    /// Time spent in CUPTI's callbacks so far.
    std::uint64_t (*callback_ns)(void* self) noexcept = nullptr;
};

/// Steps of a pass after which a death is interesting; for tests.
enum class PassStep : std::uint8_t { kEncoded, kAppended, kSlotStored, kCommitted, kTailsMoved };

struct DrainConfig {
    std::uint32_t interval_ms = 20;  ///< Longest time between two passes.
    std::uint64_t call_ps = 0;       ///< Calibrated cost of one recorded call, picoseconds; 0: not known.
    /// pthread_create of this process. A pointer, because its symbol version must be glibc 2.17's: the preload library
    /// looks it up.
    int (*create_thread)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = nullptr;
    void (*at_step)(void* self, PassStep step) noexcept = nullptr;
    void* at_step_self = nullptr;
};

class Drain {
public:
    constexpr Drain() noexcept = default;
    Drain(const Drain&) = delete;
    Drain& operator=(const Drain&) = delete;

    /// Buffers and state; no thread. The writer has its header already. 0 or an errno value.
    int init(ring::RingSet& rings, TraceWriter& writer, const DeviceSource& source, const DrainConfig& config) noexcept;
    /// Starts the thread, with every signal blocked. 0 or an errno value.
    int start() noexcept;

    /// One pass: rings, device records, anchors and facts that are due, commit. On the drain thread, or in a test without one.
    void run_pass(bool final) noexcept;

    /// From a hook, when ring::should_wake says so. One relaxed load unless the thread sleeps and nobody woke it yet, so
    /// at most one system call per pass whatever the number of threads.
    void wake() noexcept;
    /// Asks for a pass that begins after this call and waits for its end. False: not within the time, or no thread.
    bool flush(std::uint32_t timeout_ms) noexcept;
    /// The last pass (kEnd kClean) on the drain thread, the rings marked as ended and unlinked; then the thread ends.
    /// False when that took longer than the time: the trace is then as of the last commit, and the rings stay for a salvager.
    bool stop(std::uint32_t timeout_ms) noexcept;
    bool is_running() const noexcept { return running_.load(std::memory_order_acquire); }

    /// In a forked child, where the thread does not exist: as if just constructed.
    void forget_after_fork() noexcept;

private:
    friend class RecordSink;
    struct RingState;

    static void* thread_main(void* self) noexcept;
    void run() noexcept;
    void sleep() noexcept;
    template <class Put>
    void emit(Put&& put) noexcept;
    void flush_block() noexcept;
    void commit_block(bool appended) noexcept;
    void drain_rings() noexcept;
    void drain_ring(std::uint32_t index) noexcept;
    void step(PassStep step) noexcept;
    void put_anchor() noexcept;
    void put_losses() noexcept;
    void put_cpu() noexcept;
    void put_objects() noexcept;
    const char* thread_name(std::uint32_t tid, char* buffer, std::size_t capacity) noexcept;

    ring::RingSet* rings_ = nullptr;
    TraceWriter* writer_ = nullptr;
    DeviceSource source_{};
    DrainConfig config_{};
    Encoder encoder_;
    ObjectMap objects_;
    RingState* ring_states_ = nullptr;
    std::uint8_t* buffer_ = nullptr;
    std::uint64_t segment_start_bytes_ = 0;
    std::uint64_t last_anchor_ns_ = 0;
    std::uint64_t last_facts_ns_ = 0;
    std::uint64_t reported_lost_[16] = {};
    std::uint64_t reported_failed_bytes_ = 0;
    std::uint64_t reported_calls_ = 0;

    std::atomic<std::uint32_t> asleep_{0};   ///< Futex word: 1 while the thread sleeps.
    std::atomic<std::uint32_t> requests_{0};  ///< Passes asked for by flush() and stop().
    std::atomic<std::uint32_t> served_{0};    ///< Futex word: requests_ as it was when the last finished pass began.
    std::atomic<bool> stopping_{false};
    std::atomic<bool> running_{false};
};

}  // namespace gpuspy::sink

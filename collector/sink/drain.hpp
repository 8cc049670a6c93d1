// The drain thread: moves events from rings, and device records from their source, into the trace.
//
// A pass (run_pass) is a function of its own, so that tests drive it step by step. Its commit follows the protocol of
// abi/ring_layout.hpp: append the block, store size and positions in the slot that is not current, store commit_seq,
// only then move the tails.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/ring/ring_set.hpp"
#include "collector/sink/captured_origins.hpp"
#include "collector/sink/encoder.hpp"
#include "collector/sink/flight_recorder.hpp"
#include "collector/sink/last_thread.hpp"
#include "collector/sink/lasting_facts.hpp"
#include "collector/sink/object_map.hpp"
#include "collector/sink/open_ranges.hpp"
#include "collector/sink/own_thread.hpp"
#include "collector/sink/trace_writer.hpp"

namespace gpuspy::sink {

class Drain;

/// Where a source puts records. Full blocks are written on the way: nothing is refused. Valid during the call that got
/// it.
class RecordSink {
public:
    explicit RecordSink(Drain& drain) noexcept : drain_(drain) {}

    void kernel(const KernelRecord& record) noexcept;
    void memcpy(const MemcpyRecord& record) noexcept;
    void memset(const MemsetRecord& record) noexcept;
    void device(const DeviceInfo& device) noexcept;
    void info(const char* key, const char* value) noexcept;
    void span(std::uint64_t ticks, abi::SpanKind what, bool on, const char* reason) noexcept;
    /// `count` more were lost.
    void loss(abi::LossCause cause, std::uint64_t count) noexcept;
    void notice(std::uint64_t ticks, const char* text) noexcept;

private:
    Drain& drain_;
};

/// Device records and everything else that does not come through a ring. Called on the drain thread alone; members may
/// be nullptr.
struct DeviceSource {
    void* self = nullptr;
    /// Hands over what is there; `final`: the last time.
    void (*collect)(void* self, RecordSink& sink, bool final) noexcept = nullptr;
    /// The clock of DeviceRecord::start_ns, now; 0: none.
    std::uint64_t (*clock_ns)(void* self) noexcept = nullptr;
    /// Time spent in CUPTI's callbacks so far.
    std::uint64_t (*callback_ns)(void* self) noexcept = nullptr;
};

/// Steps of a pass between which a death must lose nothing; for tests.
enum class PassStep : std::uint8_t { kEncoded, kAppended, kSlotStored, kCommitted, kTailsMoved };

struct DrainConfig {
    std::uint32_t interval_ms = 20;  ///< Longest time between two passes.
    std::uint64_t call_ps = 0;       ///< Calibrated cost of one recorded call, picoseconds; 0: not known.
    /// Raw bytes after which the next pass begins a new segment.
    std::uint64_t segment_bytes = 16U << 20;
    KeptLimit kept;  ///< Not 0: a flight recorder, which needs a regular file.
    /// The trace's header as it was written: a flight recorder's files begin with it.
    const std::uint8_t* header = nullptr;
    std::size_t header_bytes = 0;
    CreateThread create_thread = nullptr;
    void (*at_step)(void* self, PassStep step) noexcept = nullptr;
    void* at_step_self = nullptr;
};

class Drain {
public:
    constexpr Drain() noexcept = default;
    Drain(const Drain&) = delete;
    Drain& operator=(const Drain&) = delete;

    /// The largest payload of a block: what TraceWriter::init must be told.
    static constexpr std::size_t kBlockBytes = 2U << 20;

    /// Buffers and state; no thread. `writer` has its header already. 0 or an errno value.
    int init(ring::RingSet& rings, TraceWriter& writer, const DeviceSource& source, const DrainConfig& config) noexcept;
    /// Starts the thread, with every signal blocked. 0 or an errno value.
    int start() noexcept;

    /// One pass: facts that are due, rings, device records, commit. On the drain thread, or in a test that has none.
    void run_pass(bool final) noexcept;

    /// From a hook, when ring::should_wake says so. At most one system call per pass, whatever the number of threads.
    void wake() noexcept;
    /// Asks for a pass that begins after this call and waits for its end. False: not within the time, or no thread.
    bool flush(std::uint32_t timeout_ms) noexcept;
    /// The last pass (kEnd kClean) on the drain thread; the rings are then marked as ended and unlinked, and the thread
    /// ends. False when that took longer than the time: the trace is as of the last commit, and the rings stay for a
    /// salvager.
    bool stop(std::uint32_t timeout_ms) noexcept;
    /// After stop(): calls that came too late, on the thread that ends the process.
    void add_late_calls(std::uint64_t count) noexcept;
    bool is_running() const noexcept { return running_.load(std::memory_order_acquire) != 0; }

    /// Gives the buffers back. Only without a thread.
    void destroy() noexcept;
    /// In a forked child, where the thread does not exist: as if just constructed.
    void forget_after_fork() noexcept;

private:
    friend class RecordSink;

    /// What the drain thread knows of a ring.
    struct RingState {
        std::uint64_t position;      ///< Everything below is encoded.
        std::uint64_t told_dropped;  ///< What the trace says of RingHeader::dropped.
        std::uint64_t name_ns;       ///< When `name` was read.
        std::uint32_t tid;
        char name[20];
    };

    static void* thread_main(void* self) noexcept;
    void run() noexcept;
    void sleep() noexcept;
    void step(PassStep step) noexcept;

    /// Encodes one record, writing the block before it if there is no room.
    template <class Put>
    void emit(Put&& put) noexcept {
        if (put()) {
            return;
        }
        flush_block();
        // An empty block takes every record unless a dictionary is full, and flush_block() began a segment then.
        [[maybe_unused]] const bool fits = put();
    }
    /// Where the flight recorder wants shorter blocks than the buffer would take.
    void keep_blocks_short() noexcept {
        if (recorder_.is_on() && encoder_.payload_bytes() >= recorder_.block_bytes()) {
            flush_block();
        }
    }
    void flush_block() noexcept;
    bool append_block(const Block& block) noexcept;
    void note_write_error(int error) noexcept;
    void commit() noexcept;
    void answer_snapshot(std::uint64_t request) noexcept;

    // The flight recorder (drain_kept.cpp).
    int init_recorder() noexcept;
    void look_after_recorder() noexcept;
    void begin_kept_part() noexcept;
    void note_for_recorder(const abi::EventHeader* event, std::uint32_t index, std::uint32_t tid) noexcept;
    void put_kept_facts() noexcept;
    void put_origins() noexcept;
    void put_open_ranges() noexcept;
    void begin_segment(std::uint32_t segment) noexcept;
    void tell_again() noexcept;

    void drain_rings() noexcept;
    void drain_ring(abi::RingHeader* ring, RingState& state) noexcept;
    void emit_event(const abi::EventHeader* event, std::uint32_t index, RingState& state) noexcept;
    void read_thread_name(RingState& state) noexcept;

    void put_first_facts() noexcept;
    void put_anchor() noexcept;
    void put_objects() noexcept;
    void put_losses() noexcept;
    void put_loss(abi::LossCause cause, std::uint64_t now, std::uint64_t& told, std::uint32_t thread) noexcept;
    void put_costs() noexcept;

    ring::RingSet* rings_ = nullptr;
    TraceWriter* writer_ = nullptr;
    DeviceSource source_{};
    DrainConfig config_{};
    Encoder encoder_;
    ObjectMap objects_;
    RingState* states_ = nullptr;
    std::uint8_t* buffer_ = nullptr;
    std::uint64_t segment_raw_bytes_ = 0;
    std::uint64_t pass_ns_ = 0;
    std::uint64_t last_anchor_ns_ = 0;
    std::uint64_t last_costs_ns_ = 0;
    LastThreadCheck last_thread_check_;
    FlightRecorder recorder_;
    LastingFacts facts_;            ///< For the recorder alone.
    CapturedOrigins origins_;       ///< Likewise.
    OpenRanges open_ranges_;        ///< Likewise.
    bool is_saying_again_ = false;  ///< Blocks go into the recorder's new file alone.
    int say_again_error_ = 0;
    std::uint64_t appended_blocks_ = 0;
    std::uint64_t appended_bytes_ = 0;
    std::uint64_t last_objects_ticks_ = 0;  ///< 0: objects that are there are taken to have been there always.
    std::uint64_t told_lost_[abi::kLossCauseCount] = {};  ///< What the trace says of MapHeader::lost.
    bool first_facts_told_ = false;
    bool is_write_error_noted_ = false;  ///< In the header of the file that is written now.

    /// Futex word: what the thread is doing.
    enum Activity : std::uint32_t { kAwake = 0, kAsleep = 1, kWoken = 2 };
    std::atomic<std::uint32_t> activity_{kAwake};
    std::atomic<std::uint32_t> requests_{0};  ///< Passes asked for by flush().
    std::atomic<std::uint32_t> served_{0};    ///< Futex word: requests_ as it was when the last finished pass began.
    std::atomic<bool> stopping_{false};
    std::atomic<std::uint32_t> running_{0};  ///< Futex word: 1 while the thread exists.
};

}  // namespace gpuspy::sink

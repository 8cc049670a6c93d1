#include "collector/sink/drain.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "collector/ring/clock.hpp"
#include "collector/ring/futex.hpp"
#include "collector/ring/owned_fd.hpp"
#include "collector/ring/ring.hpp"
#include "collector/ring/text.hpp"
#include "collector/sink/memory.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kNameAgeNs = 1'000'000'000;
constexpr std::uint64_t kAnchorEveryNs = 100 * kNsPerMs;
constexpr std::uint64_t kCostsEveryNs = 100'000'000;

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
    const ring::ErrnoGuard keep_errno;
    // sigfillset leaves out the two signals that libc needs itself; sigprocmask acts on the calling thread, and unlike
    // pthread_sigmask it has one symbol version in every glibc.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    running_.store(1, std::memory_order_release);
    sigprocmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const int error = config_.create_thread(&thread, &attributes, &Drain::thread_main, this);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
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

void Drain::step(PassStep step) noexcept {
    if (config_.at_step != nullptr) {
        config_.at_step(config_.at_step_self, step);
    }
}

void Drain::run_pass(bool final) noexcept {
    pass_ns_ = ring::read_clock_ns(CLOCK_MONOTONIC);
    // Before the rings are looked at: what was written to them before the request will be in the trace.
    const std::uint64_t snapshot_request = rings_->header()->snapshot_request.load(std::memory_order_acquire);
    look_after_recorder();
    if (encoder_.wants_segment() || segment_raw_bytes_ >= config_.segment_bytes) {
        begin_segment(encoder_.next_segment());
    }
    if (!first_facts_told_) {
        put_first_facts();
    }
    if (final || last_anchor_ns_ == 0 || pass_ns_ - last_anchor_ns_ >= kAnchorEveryNs) {
        put_anchor();
    }
    put_objects();
    drain_rings();
    if (source_.collect != nullptr) {
        RecordSink sink(*this);
        source_.collect(source_.self, sink, final);
    }
    put_losses();
    if (final || last_costs_ns_ == 0 || pass_ns_ - last_costs_ns_ >= kCostsEveryNs) {
        put_costs();
    }
    if (final) {
        // The device's last clock reading is the one that its last records need.
        put_anchor();
        const std::uint64_t now = ring::ticks();
        emit([&] { return encoder_.span(now, abi::SpanKind::kHost, false, "end of recording"); });
        emit([&] { return encoder_.end(now, abi::EndKind::kClean, 0, 0); });
    }
    flush_block();
    answer_snapshot(snapshot_request);
    if (final) {
        recorder_.finish();
    }
}

/// Pairs with the asker's acquire: all is in the file.
void Drain::answer_snapshot(std::uint64_t request) noexcept {
    if (rings_->header()->snapshot_served.load(std::memory_order_relaxed) != request) {
        rings_->header()->snapshot_served.store(request, std::memory_order_release);
    }
}

void Drain::flush_block() noexcept {
    const bool wants_segment = encoder_.wants_segment();
    if (encoder_.payload_bytes() == 0) {
        if (wants_segment) {
            begin_segment(encoder_.next_segment());
        }
        return;
    }
    const Block block = encoder_.finish_block();
    if (is_saying_again_) {
        say_again_error_ = say_again_error_ != 0 ? say_again_error_
                                                 : recorder_.append_to_successor(writer_->build(block, ring::ticks()));
        return;
    }
    step(PassStep::kEncoded);
    const bool appended = append_block(block);
    step(PassStep::kAppended);
    commit();
    segment_raw_bytes_ += block.raw_bytes;
    if (!appended) {
        // The definitions in that block are lost. A segment whose first block is missing was never begun.
        begin_segment(block.index == 0 ? block.segment : block.segment + 1);
        tell_again();
    } else if (wants_segment) {
        begin_segment(block.segment + 1);
    }
    look_after_recorder();
}

bool Drain::append_block(const Block& block) noexcept {
    const Frame frame = writer_->build(block, ring::ticks());
    const int error = recorder_.is_on() ? recorder_.append(frame) : writer_->append(frame);
    if (error != 0) {
        note_write_error(error);
        return false;
    }
    ++appended_blocks_;
    appended_bytes_ += frame.count;
    return true;
}

void Drain::begin_segment(std::uint32_t segment) noexcept {
    encoder_.begin_segment(segment);
    segment_raw_bytes_ = 0;
    last_anchor_ns_ = 0;  // Each segment has its own clocks.
}

/// Facts that hold for the whole file may have been in a block that was lost.
void Drain::tell_again() noexcept {
    objects_.forget();
    last_objects_ticks_ = 0;
    first_facts_told_ = false;
    for (std::uint64_t& told : told_lost_) {
        told = 0;
    }
    const std::uint32_t count = rings_->ring_count();
    for (std::uint32_t i = 0; i < count; ++i) {
        states_[i].told_dropped = 0;
    }
}

/// The commit protocol of abi/ring_layout.hpp. Where the block could not be written its events are gone (and counted by
/// the writer): the rings are freed all the same, since a full disk must not stop the host.
void Drain::commit() noexcept {
    abi::MapHeader* header = rings_->header();
    const std::uint32_t count = rings_->ring_count();
    const std::uint64_t sequence = header->commit_seq.load(std::memory_order_relaxed) + 1;
    const std::uint64_t slot = sequence & 1;
    header->committed_file_bytes[slot] = writer_->file_bytes();
    header->committed_exchange[slot] = recorder_.exchange();
    for (std::uint32_t i = 0; i < count; ++i) {
        rings_->ring(i)->committed[slot] = states_[i].position;
    }
    step(PassStep::kSlotStored);
    // Pairs with the salvager's acquire: publishes the slot.
    header->commit_seq.store(sequence, std::memory_order_release);
    step(PassStep::kCommitted);
    for (std::uint32_t i = 0; i < count; ++i) {
        ring::consume(rings_->ring(i), states_[i].position);
    }
    step(PassStep::kTailsMoved);
}

void Drain::drain_rings() noexcept {
    const std::uint32_t count = rings_->ring_count();
    for (std::uint32_t i = 0; i < count; ++i) {
        drain_ring(rings_->ring(i), states_[i]);
    }
}

/// Up to where the ring is now: a busy thread cannot keep the others waiting.
void Drain::drain_ring(abi::RingHeader* ring, RingState& state) noexcept {
    const std::uint64_t limit = ring::written(ring);
    if (limit == state.position) {
        return;
    }
    const std::uint32_t index = ring->index;
    const auto visit = [&](const abi::EventHeader* event, std::uint64_t position) {
        state.position = position;
        emit_event(event, index, state);
        return true;
    };
    const ring::Walk walk = ring::walk(ring, rings_->ring_bytes(), state.position, limit, visit);
    state.position = limit;
    if (walk.end == ring::WalkEnd::kCorrupt) {
        rings_->header()->lost[static_cast<unsigned>(abi::LossCause::kUnparsedRecord)].fetch_add(
            1, std::memory_order_relaxed);
        emit([&] {
            return encoder_.notice(ring::ticks(), "a ring was overwritten by the program: its events were skipped");
        });
    }
}

void Drain::emit_event(const abi::EventHeader* event, std::uint32_t index, RingState& state) noexcept {
    keep_blocks_short();  // First: state.position says that this event is not in a block.
    if (event->type == abi::EventType::kThread) {
        state.tid = reinterpret_cast<const abi::ThreadEvent*>(event)->tid;
        state.name[0] = '\0';
        state.name_ns = 0;
    }
    emit([&] {
        if (!encoder_.is_current(index, state.tid)) {
            read_thread_name(state);
            if (!encoder_.thread(index, state.tid, state.name)) {
                return false;
            }
        }
        return encoder_.event(event);
    });
    if (recorder_.is_on()) {
        if (event->type == abi::EventType::kCall) {
            origins_.note(index, *reinterpret_cast<const abi::CallEvent*>(event));
        }
    }
}

/// Threads get their names after they start, so the name is read again now and then. One that has ended keeps its last.
void Drain::read_thread_name(RingState& state) noexcept {
    if (state.name_ns != 0 && pass_ns_ - state.name_ns < kNameAgeNs) {
        return;
    }
    state.name_ns = pass_ns_;
    char path[48];
    ring::TextBuilder(path, sizeof path).text("/proc/self/task/").decimal(state.tid).text("/comm");
    const int fd = ring::open_fd(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    char name[sizeof state.name];
    const long count = syscall(SYS_read, fd, name, sizeof name - 1);
    ring::close_fd(fd);
    if (count > 1) {
        name[count - 1] = '\0';  // It ends in a newline.
        std::memcpy(state.name, name, static_cast<std::size_t>(count));
    }
}

void Drain::destroy() noexcept {
    encoder_.destroy();
    objects_.destroy();
    recorder_.forget_after_fork();
    facts_.destroy();
    origins_.destroy();
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

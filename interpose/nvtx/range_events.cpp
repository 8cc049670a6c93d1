#include "interpose/nvtx/range_events.hpp"

#include <atomic>
#include <cstring>

#include "collector/ring/clock.hpp"
#include "collector/ring/ring.hpp"
#include "interpose/lifecycle/generation.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/nvtx/open_ranges.hpp"
#include "interpose/nvtx/protocol.hpp"
#include "interpose/record/stack.hpp"

namespace gpuspy::hook::nvtx {
namespace {

/// Where the calling thread's ranges are written; nullptr: nowhere. A range begins no recording: a program may carry NVTX
/// and not use CUDA.
ThreadState* recording_thread() noexcept {
    const ThreadLocal& local = thread_local_state;
    const std::uint32_t generation = current_generation();
    if (generation == 0 || local.inside_gpuspy) return nullptr;
    return local.generation == generation && local.state != nullptr ? local.state : enter_recording();
}

struct Event {
    abi::RangeKind kind;
    std::uint64_t ticks;
    std::uint64_t id;
    const Domain& domain;
    const char* text;
    std::size_t text_bytes;
};

void write(ThreadState& state, const Event& event) noexcept {
    const std::size_t bytes = sizeof(abi::RangeEvent) + event.domain.name_bytes + event.text_bytes;
    const auto words = static_cast<std::uint32_t>((bytes + 7) / 8);
    std::uint64_t* const at = ring::reserve(state.ring, state.ring_bytes, words);
    if (at == nullptr) [[unlikely]] {
        ring::count_drop(state.ring);
        wake_drain();
        return;
    }
    at[words - 1] = 0;
    const abi::RangeEvent header{
        {static_cast<std::uint16_t>(words), abi::EventType::kRange, static_cast<std::uint8_t>(state.depth), 0, 0},
        event.ticks,
        event.id,
        event.kind,
        0,
        static_cast<std::uint16_t>(event.domain.name_bytes),
        static_cast<std::uint32_t>(event.text_bytes)};
    char* next = reinterpret_cast<char*>(at);
    std::memcpy(next, &header, sizeof header);
    next += sizeof header;
    std::memcpy(next, event.domain.name, event.domain.name_bytes);
    if (event.text_bytes != 0) std::memcpy(next + event.domain.name_bytes, event.text, event.text_bytes);
    ring::commit(state.ring, at);
    if (ring::should_wake(state.ring, state.ring_bytes, words)) [[unlikely]]
        wake_drain();
}

/// Between here and its end a signal handler of the host that comes to the same thread leaves `writer`'s owner alone. One
/// that jumps out of it leaves `writer` behind (record/stack.hpp).
template <class Owner>
class Writing {
public:
    Writing(Owner& owner, const void* frame) noexcept : owner_(owner) {
        allowed_ = owner.writer == nullptr || is_left(owner.writer, frame, own_stack_end());
        if (!allowed_) return;
        owner.writer = frame;
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~Writing() {
        if (!allowed_) return;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        owner_.writer = nullptr;
    }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;

    bool is_allowed() const noexcept { return allowed_; }

private:
    Owner& owner_;
    bool allowed_;
};

void write_guarded(ThreadState* state, const Event& event) noexcept {
    if (state == nullptr) return;
    const Writing writing(*state, __builtin_frame_address(0));
    if (writing.is_allowed()) {
        write(*state, event);
    } else {
        ring::count_drop(state->ring);
    }
}

}  // namespace

int push_range(const Domain& domain, const RangeText& text) noexcept {
    OpenPushes* pushes = open_pushes();
    if (pushes == nullptr) return kNoTracking;
    // First: where the thread gets its ring now, the ranges around this one are written then.
    ThreadState* state = recording_thread();
    const Writing writing(*pushes, __builtin_frame_address(0));
    if (!writing.is_allowed()) return kNoTracking;
    const std::uint64_t now = ring::ticks();
    const std::uint32_t level = pushes->push(now, domain, text.data(), text.size());
    write_guarded(state, {abi::RangeKind::kPush, now, level, domain, text.data(), text.size()});
    return static_cast<int>(level);
}

int pop_range(const Domain& domain) noexcept {
    const std::uint64_t now = ring::ticks();
    OpenPushes* pushes = open_pushes();
    if (pushes == nullptr) return kNoTracking;
    ThreadState* state = recording_thread();
    const Writing writing(*pushes, __builtin_frame_address(0));
    if (!writing.is_allowed()) return kNoTracking;
    const std::int64_t level = pushes->pop(domain);
    if (level < 0) return kNoTracking;
    write_guarded(state, {abi::RangeKind::kPop, now, static_cast<std::uint64_t>(level), domain, nullptr, 0});
    return static_cast<int>(level);
}

std::uint64_t start_range(const Domain& domain, const RangeText& text) noexcept {
    ThreadState* state = recording_thread();
    const std::uint64_t id = next_range_id();
    const std::uint64_t now = ring::ticks();
    keep_start(id, now, domain, text.data(), text.size());
    write_guarded(state, {abi::RangeKind::kStart, now, id, domain, text.data(), text.size()});
    return id;
}

void end_range(const Domain& domain, std::uint64_t id) noexcept {
    const std::uint64_t now = ring::ticks();
    ThreadState* state = recording_thread();
    forget_start(id);
    write_guarded(state, {abi::RangeKind::kEnd, now, id, domain, nullptr, 0});
}

void set_mark(const Domain& domain, const RangeText& text) noexcept {
    ThreadState* state = recording_thread();
    write_guarded(state, {abi::RangeKind::kMark, ring::ticks(), 0, domain, text.data(), text.size()});
}

void write_open_ranges(ThreadState& state, bool is_first) noexcept {
    if (is_first) {
        const auto visit = [](void* context, const OpenStart& start) noexcept {
            write_guarded(static_cast<ThreadState*>(context), {abi::RangeKind::kStart, start.begin_ticks, start.id,
                                                               *start.domain, start.text, start.text_bytes});
        };
        for_each_open_start(visit, &state);
    }
    const OpenPushes* pushes = known_open_pushes();
    if (pushes == nullptr) return;
    for (std::uint32_t i = 0; i < pushes->count; ++i) {
        const OpenPush& push = pushes->kept[i];
        write_guarded(&state, {abi::RangeKind::kPush, push.begin_ticks, push.level, domain_at(push.domain),
                               pushes->text + push.text_offset, push.text_bytes});
    }
}

}  // namespace gpuspy::hook::nvtx

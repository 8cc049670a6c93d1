#include "interpose/record/call.hpp"

#include <bit>
#include <cstddef>

#include "collector/ring/clock.hpp"
#include "collector/ring/ring.hpp"
#include "interpose/lifecycle/generation.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/record/calibrate.hpp"
#include "interpose/record/stack.hpp"

namespace gpuspy::hook {

// Initial-exec, so that reading it is one instruction and never allocates.
thread_local constinit ThreadLocal thread_local_state{};

namespace {

[[gnu::always_inline]] inline bool begin_on(ThreadState& state, CallFrame& frame, HookId id, const void* caller,
                                            const void* frame_address) noexcept {
    std::uint32_t depth = state.depth;
    while (depth > 0 && is_left(state.open[depth - 1].frame, frame_address, state.stack_end)) {
        // By longjmp or forced unwinding: its end will never come. Or a fibre's, which may go on later, outside of these calls.
        if (makes_device_work(static_cast<abi::ApiClass>(kApiTable[index_of(state.open[depth - 1].id)].api_class))) {
            state.device_calls = 0;
        }
        --depth;
    }
    if (depth > 0 && state.open[depth - 1].id == id) [[unlikely]] {
        // A library that calls its own public function, or a sub-library's of the same name: one call for the host.
        state.open[depth - 1].flags |= abi::kCallReentered;
        state.depth = depth;
        return false;
    }
    if (depth == kMaxDepth) [[unlikely]] {
        state.depth = depth;
        count_loss(abi::LossCause::kNoRing, 1);
        return false;
    }
    do {
        state.open[depth] = {frame_address, id, 0, 0};
        std::atomic_signal_fence(std::memory_order_seq_cst);
        state.depth = depth + 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        // A handler's call that came before the depth was raised was written over it.
    } while (state.open[depth].frame != frame_address);
    frame.state = &state;
    frame.caller = caller;
    frame.depth = depth;
    frame.id = id;
    frame.device_call = false;
    const std::uint64_t now = ring::ticks();
    if (depth == 0) {
        state.ring->open_begin_ticks.store(now, std::memory_order_relaxed);
        state.ring->open_api.store(static_cast<std::uint32_t>(index_of(id)) + 1, std::memory_order_relaxed);
    }
    frame.begin_ticks = now;
    return true;
}

/// Not set aside in favour of another stack's call.
bool is_open(const ThreadState& state, const CallFrame& frame) noexcept {
    return state.depth > frame.depth && state.open[frame.depth].id == frame.id;
}

// A CallEvent is written as whole words (CallParts says why).
static_assert(std::endian::native == std::endian::little);
static_assert(offsetof(abi::CallEvent, flags) == 8 && offsetof(abi::CallEvent, begin_ticks) == 16 &&
              offsetof(abi::CallEvent, end_ticks) == 24 && offsetof(abi::CallEvent, caller) == 32);
static_assert(offsetof(abi::EventHeader, type) == 2 && offsetof(abi::EventHeader, depth) == 3 &&
              offsetof(abi::EventHeader, api) == 4);

constexpr std::uint64_t header_word(std::uint32_t words, std::uint32_t depth, HookId id) noexcept {
    return words | std::uint64_t{static_cast<std::uint8_t>(abi::EventType::kCall)} << 16 |
           std::uint64_t{static_cast<std::uint8_t>(depth)} << 24 | std::uint64_t{index_of(id)} << 32;
}

/// Word by word: not as a vector, whose load would wait until the words that were just stored have reached the cache.
template <std::size_t N>
std::uint64_t* put_words(std::uint64_t* at, const std::uint64_t (&words)[N]) noexcept {
    for (std::size_t i = 0; i < N; ++i) {
        __atomic_store_n(at + i, __atomic_load_n(words + i, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    }
    return at + N;
}

/// All parts there are, but for the arguments themselves.
constexpr std::uint32_t kMostWords = ring::call_words(~std::uint32_t{0});

[[gnu::always_inline]] inline void write_event(const CallFrame& frame, const CallParts& parts, std::uint32_t depth,
                                               std::uint32_t flags, std::uint64_t end_ticks) noexcept {
    const ThreadState& state = *frame.state;
    // Room for the most: how many words it takes is known when it is written.
    std::uint64_t* const at = ring::reserve(state.ring, state.ring_bytes, kMostWords + parts.argument_count);
    if (at == nullptr) [[unlikely]] {
        ring::count_drop(state.ring);
        wake_drain();
        return;
    }
    at[1] = word_of_halves(flags, static_cast<std::uint32_t>(parts.status));
    at[2] = frame.begin_ticks;
    at[3] = end_ticks;
    at[4] = reinterpret_cast<std::uintptr_t>(frame.caller);
    std::uint64_t* next = at + sizeof(abi::CallEvent) / 8;
    if ((flags & abi::kCallStream) != 0) *next++ = parts.stream;
    if ((flags & abi::kCallCorrelation) != 0) *next++ = parts.correlation;
    if ((flags & abi::kCallLaunchId) != 0) *next++ = parts.launch_id;
    if ((flags & abi::kCallKernel) != 0) next = put_words(next, parts.kernel);
    if ((flags & abi::kCallCopy) != 0) next = put_words(next, parts.copy);
    if ((flags & abi::kCallGraph) != 0) *next++ = parts.exec;
    if ((flags & abi::kCallArguments) != 0) {
        *next++ = parts.argument_count;
        __builtin_memcpy(next, parts.arguments, parts.argument_count * sizeof *parts.arguments);
        next += parts.argument_count;
    }
    const auto words = static_cast<std::uint32_t>(next - at);
    at[0] = header_word(words, depth, frame.id);
    ring::commit_call(state.ring, words);
    if (ring::should_wake(state.ring, state.ring_bytes, words)) [[unlikely]]
        wake_drain();
}

}  // namespace

bool begin_call(CallFrame& frame, HookId id, const void* caller, const void* frame_address) noexcept {
    ThreadLocal& local = thread_local_state;
    ThreadState* state = local.state;
    const std::uint32_t generation = current_generation();
    if (generation == 0 || local.generation != generation || local.inside_gpuspy || state == nullptr) [[unlikely]] {
        state = enter_recording();
        if (state == nullptr) return false;
    }
    if (state->writer != nullptr) [[unlikely]] {
        if (!is_left(state->writer, frame_address, state->stack_end)) {
            // A signal handler of the host that calls CUDA, while its thread writes an event.
            ring::count_drop(state->ring);
            return false;
        }
        // A handler jumped out of it: the event was not committed and never will be.
        state->writer = nullptr;
        ring::count_drop(state->ring);
    }
    return begin_on(*state, frame, id, caller, frame_address);
}

void end_call(const CallFrame& frame, const CallParts& parts) noexcept {
    const std::uint64_t end_ticks = ring::ticks();
    ThreadState& state = *frame.state;
    std::uint32_t flags = parts.flags | abi::kCallCaller;
    if (is_open(state, frame)) flags |= state.open[frame.depth].flags;
    state.writer = __builtin_frame_address(0);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // A fibre's call may end after those around it.
    const std::uint32_t depth = frame.depth < state.depth ? frame.depth : state.depth;
    write_event(frame, parts, depth, flags, end_ticks);
    if (depth == 0) state.ring->open_api.store(0, std::memory_order_relaxed);
    state.depth = depth;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    state.writer = nullptr;
}

std::uint64_t measure_call_ticks(ThreadState& scratch) noexcept {
    constexpr int kRounds = 64;
    constexpr int kCalls = 64;
    std::uint64_t best = UINT64_MAX;
    CallParts parts;
    parts.flags = abi::kCallStream | abi::kCallKernel | abi::kCallCorrelation;
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t before = ring::ticks();
        for (int call = 0; call < kCalls; ++call) {
            CallFrame frame;
            begin_on(scratch, frame, HookId::cuLaunchKernel, nullptr, __builtin_frame_address(0));
            end_call(frame, parts);
            scratch.ring->tail.store(scratch.ring->head.load(std::memory_order_relaxed), std::memory_order_relaxed);
        }
        const std::uint64_t taken = (ring::ticks() - before) / kCalls;
        if (taken < best) best = taken;
    }
    return best;
}

}  // namespace gpuspy::hook

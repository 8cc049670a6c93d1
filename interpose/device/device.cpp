#include "interpose/device/device.hpp"

#include <time.h>

#include <cstdio>
#include <cstring>

#include "collector/ring/clock.hpp"
#include "collector/ring/owned_fd.hpp"
#include "interpose/device/buffers.hpp"
#include "interpose/device/cupti_api.hpp"
#include "interpose/device/device_info.hpp"
#include "interpose/device/records.hpp"
#include "interpose/device/subscriber.hpp"
#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/nvtx/inject.hpp"
#include "interpose/record/capture.hpp"
#include "interpose/record/names.hpp"
#include "interpose/resolve/bypass.hpp"
#include "interpose/resolve/driver_api.hpp"
#include "interpose/resolve/real_dl.hpp"

namespace gpuspy::hook {
namespace {

enum class State : std::uint32_t {
    kUnopened,  ///< No device work yet.
    kOpening,   ///< A thread is at it.
    kOn,
    kOff,  ///< Not wanted, not to be had, or given back to the host.
};

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};

constexpr std::uint32_t kFlushIntervalMs = 200;
constexpr std::uint64_t kFlushIntervalNs = kFlushIntervalMs * std::uint64_t{1'000'000};
constexpr std::uint64_t kClockSlackNs = 1'000'000'000;

constinit std::atomic<State> state{State::kUnopened};
constinit CuptiApi cupti{};
constinit SpinLock device_lock;
constinit std::atomic<std::uint64_t> callback_total_ns{0};
constinit bool flushes_itself = false;  ///< CUPTI's own thread returns buffers periodically. Set before kOn.

/// A change of state, to be written by the drain thread.
struct Change {
    std::atomic<bool> is_pending;
    std::uint64_t ticks;
    bool on;
    char reason[400];
};
constinit Change change{};

// The drain thread's own.
constinit bool wrote_facts = false;
constinit std::uint64_t last_flush_ns = 0;
constinit std::uint64_t opened_at_ns = 0;  ///< Of the device clock.

/// The drain thread writes it. A change that comes before the last one was written replaces it: of "on, off" within one drain
/// interval the trace says off, and the calls between carry their correlation ids all the same.
void announce(bool on, const char* reason) noexcept {
    const Locked guard(device_lock);
    change.is_pending.store(false, std::memory_order_relaxed);
    change.ticks = ring::ticks();
    change.on = on;
    snprintf(change.reason, sizeof change.reason, "%s", reason);
    change.is_pending.store(true, std::memory_order_release);
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    const std::uint64_t begin = ring::read_clock_ns(CLOCK_MONOTONIC);
    *buffer = take_activity_buffer();
    *bytes = kActivityBufferBytes;
    *max_records = 0;  // as many as fit
    callback_total_ns.fetch_add(ring::read_clock_ns(CLOCK_MONOTONIC) - begin, std::memory_order_relaxed);
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
    const std::uint64_t begin = ring::read_clock_ns(CLOCK_MONOTONIC);
    give_activity_buffer(buffer, valid_bytes);
    wake_drain();
    callback_total_ns.fetch_add(ring::read_clock_ns(CLOCK_MONOTONIC) - begin, std::memory_order_relaxed);
}

const char* text_of(CUptiResult result) noexcept {
    const char* text = nullptr;
    return cupti.get_result_string(result, &text) == CUPTI_SUCCESS && text != nullptr ? text : "unknown error";
}

/// nullptr: on. Else the reason why not, in `reason`.
const char* open_cupti(char* reason, std::size_t reason_bytes) noexcept {
    if (!config().device_timing) return "GPUSPY_DEVICE_TIMING=0";
    if (has_host_registered()) {
        snprintf(reason, reason_bytes, "%s registered activity callbacks of its own with CUPTI", cupti_holder());
        return reason;
    }
    if (!load_cupti(cupti, reason, reason_bytes)) return reason;
    if (!make_activity_buffers()) return "no memory for activity buffers";
    const CUptiResult subscribed = subscribe(cupti);
    if (subscribed != CUPTI_SUCCESS) {
        snprintf(reason, reason_bytes, "CUPTI's subscriber is taken or refused (%s, error %d)%s%s", text_of(subscribed),
                 static_cast<int>(subscribed), cupti_holder()[0] != 0 ? "; held by " : "", cupti_holder());
        return reason;
    }
    CUptiResult result = cupti.register_callbacks(buffer_requested, buffer_completed);
    for (const CUpti_ActivityKind kind : kKinds) {
        if (result == CUPTI_SUCCESS) result = cupti.enable(kind);
    }
    if (result != CUPTI_SUCCESS) {
        for (const CUpti_ActivityKind kind : kKinds) cupti.disable(kind);
        unsubscribe(cupti);
        snprintf(reason, reason_bytes, "CUPTI refused activity records (%s, error %d)", text_of(result),
                 static_cast<int>(result));
        return reason;
    }
    // On CUPTI's own thread: a flush takes milliseconds, in which the drain thread must empty rings.
    flushes_itself = cupti.flush_period != nullptr && cupti.flush_period(kFlushIntervalMs) == CUPTI_SUCCESS;
    return nullptr;
}

/// A driver call before cuInit fails, with CUPTI or without: but CUPTI would initialise the driver.
bool is_driver_initialised() noexcept {
    int count = 0;
    const auto get_count = driver_api().device_get_count;
    return get_count != nullptr && get_count(&count) == CUDA_SUCCESS;
}

/// While another thread opens CUPTI: a launch that went on would run unrecorded. Bounded, since that thread may wait for a
/// lock of the loader that this one holds (a constructor that uses the device).
void wait_until_opened() noexcept {
    constexpr int kMaxWaitMs = 2000;
    for (int i = 0; i < kMaxWaitMs && state.load(std::memory_order_acquire) == State::kOpening; ++i) {
        const timespec pause{0, 1'000'000};
        nanosleep(&pause, nullptr);
    }
}

/// The set-up at the first device call of the process. No lock is held: CUPTI and the loader have their own.
void open_device() noexcept {
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    State expected = State::kUnopened;
    if (!state.compare_exchange_strong(expected, State::kOpening, std::memory_order_acq_rel)) {
        wait_until_opened();
        return;
    }
    if (!is_driver_initialised()) {
        state.store(State::kUnopened, std::memory_order_release);
        return;
    }
    char reason[sizeof Change::reason];
    const char* refused = open_cupti(reason, sizeof reason);
    real_dl().dlerror();  // of libraries that we tried to load: not for the host to see
    announce(refused == nullptr, refused == nullptr ? "" : refused);
    // CUPTI has registered its exit handlers by now: ours must run before them.
    if (refused == nullptr) register_exit_handler();
    state.store(refused == nullptr ? State::kOn : State::kOff, std::memory_order_release);
}

struct Collection {
    sink::RecordSink& sink;
    BelievableTimes times;
};

void collect_buffer(void* context, std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
    auto* collection = static_cast<Collection*>(context);
    const std::uint64_t unread = put_records(cupti, buffer, valid_bytes, collection->times, collection->sink);
    if (unread > 0) count_loss(abi::LossCause::kUnparsedRecord, unread);
}

std::uint64_t device_clock_ns(void*) noexcept {
    std::uint64_t now = 0;
    if (state.load(std::memory_order_acquire) != State::kOn) return 0;
    return cupti.get_timestamp(&now) == CUPTI_SUCCESS ? now : 0;
}

void write_change(sink::RecordSink& sink) noexcept {
    if (!change.is_pending.load(std::memory_order_acquire)) return;
    char reason[sizeof Change::reason];
    std::uint64_t ticks = 0;
    bool on = false;
    {
        const Locked guard(device_lock);
        change.is_pending.store(false, std::memory_order_relaxed);
        ticks = change.ticks;
        on = change.on;
        __builtin_memcpy(reason, change.reason, sizeof reason);
    }
    sink.span(ticks, abi::SpanKind::kDevice, on, reason);
}

void write_bypasses(sink::RecordSink& sink, bool final) noexcept {
    note_bypasses();
    look_for_namespaces();
    char text[256];
    while (next_bypass(text, sizeof text, final)) sink.notice(ring::ticks(), text);
}

void collect(void*, sink::RecordSink& sink, bool final) noexcept {
    const InsideGpuspy inside;  // what CUPTI calls on this thread is not the host's
    write_bypasses(sink, final);
    nvtx::write_facts(sink);
    const State now = state.load(std::memory_order_acquire);
    write_change(sink);
    if (now == State::kUnopened || now == State::kOpening) return;
    if (!wrote_facts) {
        wrote_facts = true;
        write_device_facts(sink, now == State::kOn ? &cupti : nullptr);
    }
    if (now == State::kOn) {
        const std::uint64_t clock_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
        if (final) {
            cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
        } else if (!flushes_itself && clock_ns - last_flush_ns >= kFlushIntervalNs) {
            last_flush_ns = clock_ns;
            cupti.flush_all(0);
        }
        std::size_t dropped = 0;
        if (cupti.get_dropped(nullptr, 0, &dropped) == CUPTI_SUCCESS && dropped > 0) {
            count_loss(abi::LossCause::kCuptiDropped, dropped);
        }
    }
    const std::uint64_t device_now_ns = device_clock_ns(nullptr);
    if (opened_at_ns == 0) opened_at_ns = device_now_ns;
    const std::uint64_t first_ns = opened_at_ns > kClockSlackNs ? opened_at_ns - kClockSlackNs : 0;
    Collection collection{sink, {first_ns, device_now_ns != 0 ? device_now_ns + kClockSlackNs : UINT64_MAX}};
    visit_activity_buffers(collect_buffer, &collection);
}

std::uint64_t callback_ns(void*) noexcept {
    return callback_total_ns.load(std::memory_order_relaxed);
}

}  // namespace

void device_call_begins(CallFrame& frame) noexcept {
    const State now = state.load(std::memory_order_acquire);
    if (now == State::kUnopened || now == State::kOpening) [[unlikely]]
        open_device();
    frame.device_call = true;
    frame.state->device_calls = 1;
    thread_local_state.correlation = 0;
}

void device_call_ends(const CallFrame& frame, CallParts& parts, bool per_thread) noexcept {
    frame.state->device_calls = 0;
    const bool succeeded = parts.status == 0;
    const bool is_on = state.load(std::memory_order_relaxed) == State::kOn;
    if (succeeded && is_any_capture_active()) [[unlikely]]
        mark_if_captured(frame, parts, per_thread);
    if ((parts.flags & abi::kCallCaptured) == 0) {
        if (thread_local_state.correlation != 0) {
            parts.flags |= abi::kCallCorrelation;
            parts.correlation = thread_local_state.correlation;
        } else if (!is_on) {
            parts.flags |= abi::kCallUntimed;
        }
    }
    constexpr std::uint64_t kPerThreadStream = 2;  // CU_STREAM_PER_THREAD
    if (per_thread && (parts.flags & abi::kCallStream) != 0 && parts.stream == 0) parts.stream = kPerThreadStream;
    // With device times the records bring the names.
    if (!is_on && succeeded && (parts.flags & abi::kCallKernel) != 0 && !is_name_known(parts.function)) [[unlikely]] {
        learn_name(parts.function, frame.begin_ticks);
    }
}

std::uint64_t cupti_exec_id(CUgraphExec exec) noexcept {
    std::uint32_t id = 0;
    if (state.load(std::memory_order_acquire) != State::kOn || cupti.get_graph_exec_id == nullptr) return 0;
    return cupti.get_graph_exec_id(exec, &id) == CUPTI_SUCCESS ? id : 0;
}

sink::DeviceSource device_source() noexcept {
    return {nullptr, collect, device_clock_ns, callback_ns};
}

void device_forget_after_fork() noexcept {
    // CUPTI's locks may have been held at the fork, and CUDA cannot be used in the child of a process that used it.
    const bool was_opened = state.load(std::memory_order_relaxed) != State::kUnopened;
    state.store(was_opened ? State::kOff : State::kUnopened, std::memory_order_relaxed);
    change.is_pending.store(false, std::memory_order_relaxed);
    if (was_opened) announce(false, "CUPTI was open in the process that this one was forked from");
    wrote_facts = false;
    last_flush_ns = 0;
    opened_at_ns = 0;
    tell_bypasses_again();
}

void device_yield(const char* reason) noexcept {
    const InsideGpuspy inside;
    State expected = State::kOn;
    if (!state.compare_exchange_strong(expected, State::kOff, std::memory_order_acq_rel)) return;
    cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    for (const CUpti_ActivityKind kind : kKinds) cupti.disable(kind);
    unsubscribe(cupti);
    announce(false, reason);
}

}  // namespace gpuspy::hook

#include "interpose/device/device.hpp"

#include <cstdio>
#include <cstdlib>

#include "collector/ring/clock.hpp"
#include "collector/ring/owned_fd.hpp"
#include "interpose/device/buffers.hpp"
#include "interpose/device/cupti_api.hpp"
#include "interpose/device/cupti_host.hpp"
#include "interpose/device/device_info.hpp"
#include "interpose/device/flusher.hpp"
#include "interpose/device/host_clock.hpp"
#include "interpose/device/host_records.hpp"
#include "interpose/device/host_session.hpp"
#include "interpose/device/records.hpp"
#include "interpose/device/shared_buffers.hpp"
#include "interpose/device/shared_kinds.hpp"
#include "interpose/device/shared_subscriber.hpp"
#include "interpose/device/subscriber.hpp"
#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/lifecycle/wait.hpp"
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

constexpr std::uint64_t kClockSlackNs = 1'000'000'000;

constinit std::atomic<State> state{State::kUnopened};
constinit CuptiApi cupti{};
constinit SetUpLock device_lock;

/// A change of state, to be written by the drain thread.
struct Change {
    std::uint64_t ticks;
    bool on;
    char reason[400];
};

/// Those that are not written yet; under device_lock. There are few, but for a host that takes CUPTI and gives it back all the time.
constexpr std::uint32_t kMaxChanges = 8;
constinit Change changes[kMaxChanges]{};
constinit std::atomic<std::uint32_t> change_count{0};

// The drain thread's own.
constinit bool wrote_facts = false;
constinit std::atomic<std::uint32_t> users_of_cupti{0};  ///< Our threads that are calling it.
constinit std::atomic<bool> flushes_next{false};
constinit bool is_attached = false;        ///< CUPTI was opened, and has not been finalised since.
constinit std::uint64_t opened_at_ns = 0;  ///< Of the device clock.

/// The drain thread writes it. One too many within a drain interval replaces the last: what holds in the end is said, and the calls
/// between carry their correlation ids all the same.
void announce(bool on, const char* reason) noexcept {
    const Locked guard(device_lock);
    const std::uint32_t count = change_count.load(std::memory_order_relaxed);
    Change& change = changes[count < kMaxChanges ? count : kMaxChanges - 1];
    change.ticks = ring::ticks();
    change.on = on;
    snprintf(change.reason, sizeof change.reason, "%s", reason);
    change_count.store(count < kMaxChanges ? count + 1 : kMaxChanges, std::memory_order_release);
}

const char* text_of(CUptiResult result) noexcept {
    const char* text = nullptr;
    return cupti.get_result_string(result, &text) == CUPTI_SUCCESS && text != nullptr ? text : "unknown error";
}

/// nullptr: on. Else the reason why not, in `reason`.
const char* open_cupti(char* reason, std::size_t reason_bytes) noexcept {
    if (!config().device_timing) return "GPUSPY_DEVICE_TIMING=0";
    if (!load_cupti(cupti, reason, reason_bytes)) return reason;
    if (!is_shared_copy(reinterpret_cast<const void*>(cupti.register_callbacks))) {
        snprintf(reason, reason_bytes, "%s uses another CUPTI (%s)", cupti_holder(), shared_copy_path());
        return reason;
    }
    if (!make_activity_buffers()) return "no memory for activity buffers";
    const CUptiResult subscribed = subscribe(cupti);
    if (subscribed != CUPTI_SUCCESS) {
        const char* injected = getenv("CUDA_INJECTION64_PATH");
        const char* taker = cupti_holder()[0] != 0 ? cupti_holder() : injected != nullptr ? injected : "";
        snprintf(reason, reason_bytes, "CUPTI's subscriber is taken or refused (%s, error %d)%s%s", text_of(subscribed),
                 static_cast<int>(subscribed), taker[0] != 0 ? "; held by " : "", taker);
        return reason;
    }
    const CUptiResult result = begin_our_records(cupti);
    if (result != CUPTI_SUCCESS) {
        unsubscribe(cupti);
        snprintf(reason, reason_bytes, "CUPTI refused activity records (%s, error %d)", text_of(result),
                 static_cast<int>(result));
        return reason;
    }
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
    wait_until(kMaxWaitMs, [] { return state.load(std::memory_order_acquire) != State::kOpening; });
}

/// While a thread of ours uses CUPTI, which must not be finalised meanwhile. Looks at the state when it stands.
class UsingCupti {
public:
    UsingCupti() noexcept {
        users_of_cupti.fetch_add(1, std::memory_order_seq_cst);
        state_ = state.load(std::memory_order_seq_cst);
    }
    ~UsingCupti() { users_of_cupti.fetch_sub(1, std::memory_order_release); }
    UsingCupti(const UsingCupti&) = delete;
    UsingCupti& operator=(const UsingCupti&) = delete;

    State device_state() const noexcept { return state_; }

private:
    State state_;
};

/// Until our threads are out of CUPTI, for half a second at most. False: one is not.
bool wait_for_users_of_cupti() noexcept {
    constexpr int kMaxWaitMs = 500;
    return wait_until(kMaxWaitMs, [] { return users_of_cupti.load(std::memory_order_seq_cst) == 0; });
}

/// On the flusher's thread.
void flush_in_turn() noexcept {
    const UsingCupti user;
    if (user.device_state() == State::kOn) flush_periodically();
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
    if (refused == nullptr) {
        register_exit_handler();
        is_attached = true;
        start_flusher(flush_in_turn);
    }
    state.store(refused == nullptr ? State::kOn : State::kOff, std::memory_order_release);
}

struct Collection {
    sink::RecordSink& sink;
    BelievableTimes times;
};

void collect_buffer(void* context, std::uint8_t* buffer, const Filled& filled) noexcept {
    auto* collection = static_cast<Collection*>(context);
    const ClockLines clocks = lines_of(filled.clock);
    ActivityRecord read;
    if (filled.is_read) {
        for (std::uint32_t i = 0; i < filled.records; ++i) {
            __builtin_memcpy(&read, buffer + i * sizeof read, sizeof read);
            put_record(read, clocks, collection->times, collection->sink);
        }
        return;
    }
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = cupti.get_next_record(buffer, filled.bytes, &record)) == CUPTI_SUCCESS) {
        if (read_record(cupti, record, read)) {
            put_record(read, clocks, collection->times, collection->sink);
        } else if (!is_hosts_kind(record->kind)) {
            count_loss(abi::LossCause::kUnparsedRecord, 1);
        }
    }
    if (filled.bytes > 0 && result != CUPTI_ERROR_MAX_LIMIT_REACHED) count_loss(abi::LossCause::kUnparsedRecord, 1);
}

/// A buffer whose records cannot be read any more: CUPTI, which has their names, is gone.
void lose_buffer(void*, std::uint8_t*, const Filled& filled) noexcept {
    if (filled.bytes > 0) count_loss(abi::LossCause::kUnparsedRecord, filled.is_read ? filled.records : 1);
}

std::uint64_t device_clock_ns(void*) noexcept {
    const UsingCupti user;
    return user.device_state() == State::kOn ? device_now_ns(cupti) : 0;
}

void write_changes(sink::RecordSink& sink) noexcept {
    while (change_count.load(std::memory_order_acquire) != 0) {
        Change first;
        {
            const Locked guard(device_lock);
            const std::uint32_t count = change_count.load(std::memory_order_relaxed);
            first = changes[0];
            for (std::uint32_t i = 1; i < count; ++i) changes[i - 1] = changes[i];
            change_count.store(count - 1, std::memory_order_relaxed);
        }
        sink.span(first.ticks, abi::SpanKind::kDevice, first.on, first.reason);
    }
}

void write_bypasses(sink::RecordSink& sink, bool final) noexcept {
    note_bypasses();
    look_for_namespaces();
    char text[256];
    while (next_bypass(text, sizeof text, final)) sink.notice(ring::ticks(), text);
}

void write_whole_graphs(sink::RecordSink& sink) noexcept {
    if (!take_whole_graphs()) return;
    char text[256];
    snprintf(text, sizeof text,
             "%s traced CUDA graphs as a whole: CUPTI may have given no records of single kernels in graphs meanwhile",
             cupti_holder());
    sink.notice(ring::ticks(), text);
}

void collect(void*, sink::RecordSink& sink, bool final) noexcept {
    const InsideGpuspy inside;  // what CUPTI calls on this thread is not the host's
    write_bypasses(sink, final);
    write_whole_graphs(sink);
    nvtx::write_facts(sink);
    const State now = state.load(std::memory_order_acquire);
    write_changes(sink);
    if (now == State::kUnopened || now == State::kOpening) return;
    const UsingCupti user;
    if (user.device_state() != now) return;  // the host finalises CUPTI this moment, or took it
    if (!wrote_facts) {
        wrote_facts = true;
        write_device_facts(sink, now == State::kOn ? &cupti : nullptr);
    }
    if (now == State::kOn) {
        if (final) stop_flusher();
        if (final || flushes_next.exchange(false, std::memory_order_acq_rel)) flush_at_end(cupti);
        if (const std::uint64_t dropped = take_dropped(cupti); dropped > 0) {
            count_loss(abi::LossCause::kCuptiDropped, dropped);
        }
    }
    read_host_clock(final);
    const std::uint64_t now_ns = device_clock_ns(nullptr);
    if (opened_at_ns == 0) opened_at_ns = now_ns;
    const std::uint64_t first_ns = opened_at_ns > kClockSlackNs ? opened_at_ns - kClockSlackNs : 0;
    Collection collection{sink, {first_ns, now_ns != 0 ? now_ns + kClockSlackNs : UINT64_MAX}};
    give_copies();
    visit_activity_buffers(collect_buffer, &collection);
}

std::uint64_t callback_ns(void*) noexcept {
    return buffer_callback_ns();
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

void device_flush_next() noexcept {
    flushes_next.store(true, std::memory_order_release);
}

sink::DeviceSource device_source() noexcept {
    return {nullptr, collect, device_clock_ns, callback_ns};
}

void device_forget_after_fork() noexcept {
    // CUPTI's locks may have been held at the fork, and CUDA cannot be used in the child of a process that used it.
    const bool was_opened = state.load(std::memory_order_relaxed) != State::kUnopened;
    state.store(was_opened ? State::kOff : State::kUnopened, std::memory_order_relaxed);
    forget_records_after_fork();
    forget_subscription();
    forget_copies();
    forget_activity_buffers();
    forget_flusher();
    users_of_cupti.store(0, std::memory_order_relaxed);
    flushes_next.store(false, std::memory_order_relaxed);
    is_attached = false;
    change_count.store(0, std::memory_order_relaxed);
    if (was_opened) announce(false, "CUPTI was open in the process that this one was forked from");
    wrote_facts = false;
    opened_at_ns = 0;
    tell_bypasses_again();
}

void device_yield(const char* reason) noexcept {
    const InsideGpuspy inside;
    wait_until_opened();
    State expected = State::kUnopened;
    if (state.compare_exchange_strong(expected, State::kOff, std::memory_order_acq_rel)) {
        announce(false, reason);
        return;
    }
    expected = State::kOn;
    if (!state.compare_exchange_strong(expected, State::kOff, std::memory_order_acq_rel)) return;
    end_our_records();
    unsubscribe(cupti);
    announce(false, reason);
}

bool device_detach(const char* reason) noexcept {
    constexpr std::uint32_t kFlushMs = 1000;
    const InsideGpuspy inside;
    wait_until_opened();
    if (state.load(std::memory_order_acquire) != State::kOn) return false;
    flush_before_detach();
    flush_trace(kFlushMs);  // the drain thread reads what came back, with its names
    State expected = State::kOn;
    if (!state.compare_exchange_strong(expected, State::kOpening, std::memory_order_seq_cst)) return false;
    wait_for_users_of_cupti();
    give_copies();
    visit_activity_buffers(lose_buffer, nullptr);
    announce(false, reason);
    return true;
}

void device_detached(bool was_on, bool succeeded) noexcept {
    if (succeeded) {
        forget_records();
        forget_subscription();
        is_attached = false;
    }
    if (!was_on) return;
    if (!succeeded) announce(true, "");
    state.store(succeeded ? State::kUnopened : State::kOn, std::memory_order_release);
}

bool device_let_go() noexcept {
    constexpr std::uint32_t kFlushMs = 1000;
    const InsideGpuspy inside;
    if (state.load(std::memory_order_acquire) != State::kOff || !is_attached || cupti.finalize == nullptr) return false;
    if (host_has_records() || host_has_subscribed()) return false;  // it uses both copies: that would fail alone too
    flush_trace(kFlushMs);                                          // what came back when device times ended is read
    if (!wait_for_users_of_cupti()) return false;
    give_copies();
    visit_activity_buffers(lose_buffer, nullptr);
    is_attached = false;
    return cupti.finalize() == CUPTI_SUCCESS;
}

void wait_for_device() noexcept {
    wait_until_opened();
}

}  // namespace gpuspy::hook

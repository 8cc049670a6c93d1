#include "interpose/device/device.hpp"

#include <cstdio>
#include <cstdlib>

#include "collector/ring/owned_fd.hpp"
#include "interpose/device/buffers.hpp"
#include "interpose/device/collection.hpp"
#include "interpose/device/cupti_api.hpp"
#include "interpose/device/cupti_host.hpp"
#include "interpose/device/flusher.hpp"
#include "interpose/device/host_records.hpp"
#include "interpose/device/opened_device.hpp"
#include "interpose/device/shared_buffers.hpp"
#include "interpose/device/shared_subscriber.hpp"
#include "interpose/device/subscriber.hpp"
#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/lifecycle/wait.hpp"
#include "interpose/record/capture.hpp"
#include "interpose/record/names.hpp"
#include "interpose/resolve/bypass.hpp"
#include "interpose/resolve/driver_api.hpp"
#include "interpose/resolve/real_dl.hpp"

namespace gpuspy::hook {

constinit OpenedDevice opened_device;

namespace {

constinit bool is_attached = false;  ///< CUPTI was opened, and has not been finalised since.

const char* text_of(CUptiResult result) noexcept {
    const char* text = nullptr;
    return opened_device.cupti.get_result_string(result, &text) == CUPTI_SUCCESS && text != nullptr ? text
                                                                                                    : "unknown error";
}

/// nullptr: on. Else the reason why not, in `reason`.
const char* open_cupti(char* reason, std::size_t reason_bytes) noexcept {
    if (!config().device_timing) return "GPUSPY_DEVICE_TIMING=0";
    if (!load_cupti(opened_device.cupti, reason, reason_bytes)) return reason;
    if (!is_shared_copy(reinterpret_cast<const void*>(opened_device.cupti.register_callbacks))) {
        snprintf(reason, reason_bytes, "%s uses another CUPTI (%s)", cupti_holder(), shared_copy_path());
        return reason;
    }
    if (!make_activity_buffers()) return "no memory for activity buffers";
    const CUptiResult subscribed = subscribe(opened_device.cupti);
    if (subscribed != CUPTI_SUCCESS) {
        const char* injected = getenv("CUDA_INJECTION64_PATH");
        const char* taker = cupti_holder()[0] != 0 ? cupti_holder() : injected != nullptr ? injected : "";
        snprintf(reason, reason_bytes, "CUPTI's subscriber is taken or refused (%s, error %d)%s%s", text_of(subscribed),
                 static_cast<int>(subscribed), taker[0] != 0 ? "; held by " : "", taker);
        return reason;
    }
    const CUptiResult result = begin_our_records(opened_device.cupti);
    if (result != CUPTI_SUCCESS) {
        unsubscribe(opened_device.cupti);
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
    wait_until(kMaxWaitMs, [] { return opened_device.state.load(std::memory_order_acquire) != DeviceState::kOpening; });
}

/// Until our threads are out of CUPTI, for half a second at most. False: one is not.
bool wait_for_users_of_cupti() noexcept {
    constexpr int kMaxWaitMs = 500;
    return wait_until(kMaxWaitMs, [] { return opened_device.users.load(std::memory_order_seq_cst) == 0; });
}

/// On the flusher's thread.
void flush_in_turn() noexcept {
    const UsingCupti user;
    if (user.device_state() == DeviceState::kOn) flush_periodically();
}

/// The set-up at the first device call of the process. No lock is held: CUPTI and the loader have their own.
void open_device() noexcept {
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    DeviceState expected = DeviceState::kUnopened;
    if (!opened_device.state.compare_exchange_strong(expected, DeviceState::kOpening, std::memory_order_acq_rel)) {
        wait_until_opened();
        return;
    }
    if (!is_driver_initialised()) {
        opened_device.state.store(DeviceState::kUnopened, std::memory_order_release);
        return;
    }
    char reason[kMaxReasonBytes];
    const char* refused = open_cupti(reason, sizeof reason);
    real_dl().dlerror();  // of libraries that we tried to load: not for the host to see
    announce_device_change(refused == nullptr, refused == nullptr ? "" : refused);
    // CUPTI has registered its exit handlers by now: ours must run before them.
    if (refused == nullptr) {
        register_exit_handler();
        is_attached = true;
        start_flusher(flush_in_turn);
    }
    opened_device.state.store(refused == nullptr ? DeviceState::kOn : DeviceState::kOff, std::memory_order_release);
}

}  // namespace

void device_call_begins(CallFrame& frame) noexcept {
    const DeviceState now = opened_device.state.load(std::memory_order_acquire);
    if (now == DeviceState::kUnopened || now == DeviceState::kOpening) [[unlikely]]
        open_device();
    frame.device_call = true;
    frame.state->device_calls = 1;
    thread_local_state.correlation = 0;
}

void device_call_ends(const CallFrame& frame, CallParts& parts, bool per_thread) noexcept {
    frame.state->device_calls = 0;
    const bool succeeded = parts.status == 0;
    const bool is_on = opened_device.state.load(std::memory_order_relaxed) == DeviceState::kOn;
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
    if (!is_on && succeeded && (parts.flags & abi::kCallKernel) != 0 && !is_name_known(parts.kernel[0])) [[unlikely]] {
        learn_name(parts.kernel[0], frame.begin_ticks);
    }
}

std::uint64_t cupti_exec_id(CUgraphExec exec) noexcept {
    std::uint32_t id = 0;
    if (opened_device.state.load(std::memory_order_acquire) != DeviceState::kOn ||
        opened_device.cupti.get_graph_exec_id == nullptr) {
        return 0;
    }
    return opened_device.cupti.get_graph_exec_id(exec, &id) == CUPTI_SUCCESS ? id : 0;
}

void device_forget_after_fork() noexcept {
    // CUPTI's locks may have been held at the fork, and CUDA cannot be used in the child of a process that used it.
    const bool was_opened = opened_device.state.load(std::memory_order_relaxed) != DeviceState::kUnopened;
    opened_device.state.store(was_opened ? DeviceState::kOff : DeviceState::kUnopened, std::memory_order_relaxed);
    forget_records_after_fork();
    forget_subscription();
    forget_copies();
    forget_activity_buffers();
    forget_flusher();
    opened_device.users.store(0, std::memory_order_relaxed);
    is_attached = false;
    forget_collection();
    if (was_opened) announce_device_change(false, "CUPTI was open in the process that this one was forked from");
    tell_bypasses_again();
}

void device_yield(const char* reason) noexcept {
    const InsideGpuspy inside;
    wait_until_opened();
    DeviceState expected = DeviceState::kUnopened;
    if (opened_device.state.compare_exchange_strong(expected, DeviceState::kOff, std::memory_order_acq_rel)) {
        announce_device_change(false, reason);
        return;
    }
    expected = DeviceState::kOn;
    if (!opened_device.state.compare_exchange_strong(expected, DeviceState::kOff, std::memory_order_acq_rel)) return;
    end_our_records();
    unsubscribe(opened_device.cupti);
    announce_device_change(false, reason);
}

bool device_detach(const char* reason) noexcept {
    constexpr std::uint32_t kFlushMs = 1000;
    const InsideGpuspy inside;
    wait_until_opened();
    if (opened_device.state.load(std::memory_order_acquire) != DeviceState::kOn) return false;
    flush_before_detach();
    flush_trace(kFlushMs);  // the drain thread reads what came back, with its names
    DeviceState expected = DeviceState::kOn;
    if (!opened_device.state.compare_exchange_strong(expected, DeviceState::kOpening, std::memory_order_seq_cst)) {
        return false;
    }
    wait_for_users_of_cupti();
    lose_buffers();
    announce_device_change(false, reason);
    return true;
}

void device_detached(bool was_on, bool succeeded) noexcept {
    if (succeeded) {
        forget_records();
        forget_subscription();
        is_attached = false;
    }
    if (!was_on) return;
    if (!succeeded) announce_device_change(true, "");
    opened_device.state.store(succeeded ? DeviceState::kUnopened : DeviceState::kOn, std::memory_order_release);
}

bool device_let_go() noexcept {
    constexpr std::uint32_t kFlushMs = 1000;
    const InsideGpuspy inside;
    if (opened_device.state.load(std::memory_order_acquire) != DeviceState::kOff || !is_attached ||
        opened_device.cupti.finalize == nullptr) {
        return false;
    }
    if (host_has_records() || host_has_subscribed()) return false;  // it uses both copies: that would fail alone too
    flush_trace(kFlushMs);                                          // what came back when device times ended is read
    if (!wait_for_users_of_cupti()) return false;
    lose_buffers();
    is_attached = false;
    return opened_device.cupti.finalize() == CUPTI_SUCCESS;
}

void wait_for_device() noexcept {
    wait_until_opened();
}

}  // namespace gpuspy::hook

#include "interpose/device/shared_buffers.hpp"

#include <time.h>

#include <atomic>

#include "collector/ring/clock.hpp"
#include "interpose/device/buffers.hpp"
#include "interpose/device/cupti_host.hpp"
#include "interpose/device/host_clock.hpp"
#include "interpose/device/host_records.hpp"
#include "interpose/device/host_session.hpp"
#include "interpose/device/shared_kinds.hpp"
#include "interpose/device/withheld_buffers.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/lifecycle/wait.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook {
namespace {

/// For the drain thread to read what came back.
constexpr std::uint32_t kReadMs = 1000;

constinit std::atomic<const CuptiApi*> ours{nullptr};  ///< nullptr: we record no device times.
constinit std::atomic<CUpti_BuffersCallbackRequestFunc> host_request{nullptr};
constinit std::atomic<CUpti_BuffersCallbackCompleteFunc> host_complete{nullptr};
constinit std::atomic<bool> is_registered{false};        ///< Our two callbacks, with CUPTI.
constinit std::atomic<std::int32_t> hosts_in_flight{0};  ///< Buffers of the host's that CUPTI holds.
constinit std::atomic<std::uint64_t> dropped_for_us{0};
constinit std::atomic<std::uint64_t> dropped_for_host{0};
constinit std::atomic<std::uint64_t> callback_total_ns{0};
constinit std::atomic<std::uint32_t> our_flushes{0};     ///< In progress, in any thread.
constinit std::atomic<std::uint32_t> buffer_choices{0};  ///< Threads of CUPTI's that are about to get a buffer of ours.

constinit std::atomic<bool> withholds_all{false};  ///< In our last flush, whichever thread CUPTI uses for it.

/// Counts a thread in and out. Sequentially consistent: who counts himself in and then looks at `session` sees a session, or the thread
/// that begins it sees him.
class Counted {
public:
    explicit Counted(std::atomic<std::uint32_t>& count) noexcept : count_(count) {
        count_.fetch_add(1, std::memory_order_seq_cst);
    }
    ~Counted() { count_.fetch_sub(1, std::memory_order_release); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

private:
    std::atomic<std::uint32_t>& count_;
};

/// Until none is in, for a second at most: it may wait for a lock that this thread holds.
void wait_for_none(const std::atomic<std::uint32_t>& count) noexcept {
    constexpr int kMaxWaitMs = 1000;
    wait_until(kMaxWaitMs, [&count] { return count.load(std::memory_order_seq_cst) == 0; });
}

class Timed {
public:
    Timed() noexcept : begin_(ring::read_clock_ns(CLOCK_MONOTONIC)) {}
    ~Timed() { callback_total_ns.fetch_add(ring::read_clock_ns(CLOCK_MONOTONIC) - begin_, std::memory_order_relaxed); }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

private:
    std::uint64_t begin_;
};

/// Whether CUPTI is to fill the host's buffers.
bool wants_hosts_buffer() noexcept {
    return host_request.load(std::memory_order_relaxed) != nullptr &&
           (session_stage() != SessionStage::kNone || ours.load(std::memory_order_relaxed) == nullptr);
}

void give_ours(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) noexcept {
    const Timed timed;
    *buffer = take_activity_buffer();
    *bytes = kActivityBufferBytes;
    *max_records = 0;  // as many as fit
}

void complete(const FullBuffer& full) noexcept {
    const OutsideGpuspy hosts;
    if (const auto function = host_complete.load(std::memory_order_relaxed)) {
        function(full.context, full.stream, full.buffer, full.bytes, full.valid_bytes);
    }
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    {
        // Not while the host's function is called, which may wait for the thread that begins a session.
        const Counted choice(buffer_choices);
        if (!wants_hosts_buffer()) {
            give_ours(buffer, bytes, max_records);
            return;
        }
    }
    *buffer = nullptr;
    {
        const OutsideGpuspy hosts;
        host_request.load(std::memory_order_relaxed)(buffer, bytes, max_records);
    }
    if (*buffer != nullptr) {
        hosts_in_flight.fetch_add(1, std::memory_order_relaxed);
        if (ours.load(std::memory_order_acquire) != nullptr) note_session_of_buffer(*buffer, session_number());
    }
    // Refused (newer torch.profiler, when it has enough): what would be lost alone is ours.
    if (*buffer == nullptr && ours.load(std::memory_order_relaxed) != nullptr) give_ours(buffer, bytes, max_records);
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                               std::size_t valid_bytes) {
    if (is_activity_buffer(buffer)) {
        const Timed timed;
        give_activity_buffer(buffer, {valid_bytes, false, current_clock(), 0});
        wake_drain();
        return;
    }
    {
        const Timed timed;
        const InsideGpuspy inside;
        if (const CuptiApi* api = ours.load(std::memory_order_acquire)) {
            share_hosts_buffer(*api, buffer, valid_bytes,
                               view_since_session(session_of_buffer(buffer, session_number())));
            wake_drain();
        } else {
            leave_hosts_buffer(buffer);
        }
    }
    if (hosts_in_flight.load(std::memory_order_relaxed) > 0) hosts_in_flight.fetch_sub(1, std::memory_order_relaxed);
    const FullBuffer full{context, stream, buffer, bytes, valid_bytes};
    const bool is_ours = thread_local_state.flushes_for_us || withholds_all.load(std::memory_order_acquire);
    if (!is_ours || !withhold(full)) complete(full);
}

/// Of our own accord. Without force first: by force what still runs comes back without times, and does not come again.
void flush(bool by_force) noexcept {
    const CuptiApi* api = ours.load(std::memory_order_acquire);
    if (api == nullptr) return;
    const InsideGpuspy inside;
    const Counted in_progress(our_flushes);
    thread_local_state.flushes_for_us = true;
    api->flush_all(0);
    if (by_force && activity_buffers_in_flight() > 0) api->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    thread_local_state.flushes_for_us = false;
}

/// Whether CUPTI may be made to give back what is not full. Not while the host waits for it: torch.profiler takes no buffer that came
/// of itself.
bool may_flush() noexcept {
    return session_stage() == SessionStage::kNone;
}

/// In a session that has begun: buffers of ours that CUPTI took before come back, or the host's first records would be in them; and so
/// does a flush of another thread's, or records of the host's would be withheld from it beyond its own flush.
void take_back_ours() noexcept {
    constexpr int kTries = 7;
    wait_for_none(our_flushes);
    wait_for_none(buffer_choices);
    // One that a thread was just given may not be CUPTI's to give back yet.
    for (int i = 0; i < kTries && activity_buffers_in_flight() > 0; ++i) {
        if (i > 0) pause_ms(1L << (i - 1));
        flush(true);
    }
}

}  // namespace

const CuptiApi* our_records() noexcept {
    return ours.load(std::memory_order_acquire);
}

void begin_session_if_due() noexcept {
    if (host_request.load(std::memory_order_relaxed) == nullptr || hosts_kinds() == 0) return;
    const bool is_first = session_stage() == SessionStage::kNone;
    if (is_first) flush(true);
    begin_session();
    if (is_first) take_back_ours();
}

CUptiResult host_registers_callbacks(decltype(&::cuptiActivityRegisterCallbacks) original,
                                     CUpti_BuffersCallbackRequestFunc request,
                                     CUpti_BuffersCallbackCompleteFunc function) noexcept {
    if (request == nullptr || function == nullptr) return original(request, function);
    // Each time: somebody whom no hook sees may have registered since.
    const CUptiResult result = original(buffer_requested, buffer_completed);
    if (result != CUPTI_SUCCESS) return result;
    is_registered.store(true, std::memory_order_release);
    keep_loaded(reinterpret_cast<const void*>(request));
    keep_loaded(reinterpret_cast<const void*>(function));
    host_complete.store(function, std::memory_order_relaxed);
    host_request.store(request, std::memory_order_release);
    begin_session_if_due();
    return CUPTI_SUCCESS;
}

CUptiResult host_flushes(FlushCall original, void* context, std::uint32_t flag) noexcept {
    withholds_all.store(false, std::memory_order_release);
    hand_on_withheld(complete);
    CUptiResult result = original(context, flag);
    if (session_stage() != SessionStage::kDraining) return result;
    // The host's records are all out, as far as they would be alone; its last buffer is not, if work of ours goes on in it. It must not
    // come later: the host may have let go of what its callback needs.
    leave_session();
    constexpr int kTries = 3;
    for (int i = 0; i < kTries && result == CUPTI_SUCCESS && hosts_in_flight.load(std::memory_order_relaxed) > 0; ++i) {
        result = original(context, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    }
    // Nor may one that came back in a flush of ours meanwhile.
    wait_for_none(our_flushes);
    hand_on_withheld(complete);
    return result;
}

CUptiResult host_counts_dropped(decltype(&::cuptiActivityGetNumDroppedRecords) original, CUcontext context,
                                std::uint32_t stream, std::size_t* dropped) noexcept {
    const CUptiResult result = original(context, stream, dropped);
    if (result != CUPTI_SUCCESS || dropped == nullptr || ours.load(std::memory_order_acquire) == nullptr) return result;
    dropped_for_us.fetch_add(*dropped, std::memory_order_relaxed);
    *dropped += dropped_for_host.exchange(0, std::memory_order_relaxed);
    return result;
}

CUptiResult host_sets_timestamps(decltype(&::cuptiActivityRegisterTimestampCallback) original,
                                 CUpti_TimestampCallbackFunc clock) noexcept {
    if (is_current_clock(clock)) return CUPTI_SUCCESS;  // set twice it spoils CUPTI's records
    if (may_flush()) {
        flush(true);
        // CUPTI puts times on its clock when a record is read: what was stamped with the clock before must be read before.
        flush_trace(kReadMs);
    }
    return host_sets_clock(original, clock, ours.load(std::memory_order_acquire));
}

CUptiResult host_sets_attribute(decltype(&::cuptiActivitySetAttribute) original, CUpti_ActivityAttribute attribute,
                                std::size_t* bytes, void* value) noexcept {
    const CuptiApi* api = ours.load(std::memory_order_acquire);
    if (api == nullptr || bytes == nullptr || value == nullptr || *bytes == 0) return original(attribute, bytes, value);
    const auto wanted = *static_cast<const std::uint8_t*>(value);
    if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER) {
        // To be set before anything is enabled, says CUPTI; alone nothing would be. torch.profiler sets what is set already.
        std::uint8_t present = 0;
        std::size_t present_bytes = sizeof present;
        if (api->get_attribute != nullptr && api->get_attribute(attribute, &present_bytes, &present) == CUPTI_SUCCESS &&
            present == wanted) {
            return CUPTI_SUCCESS;
        }
        if (may_flush()) flush(true);
    }
    const CUptiResult result = original(attribute, bytes, value);
    if (result == CUPTI_SUCCESS && attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER && wanted != 0) {
        zero_activity_buffers();
    }
    return result;
}

CUptiResult begin_our_records(const CuptiApi& api) noexcept {
    CUptiResult result = CUPTI_SUCCESS;
    if (!is_registered.load(std::memory_order_acquire)) {
        result = api.register_callbacks(buffer_requested, buffer_completed);
        if (result == CUPTI_SUCCESS) is_registered.store(true, std::memory_order_release);
    }
    ours.store(&api, std::memory_order_release);
    if (result == CUPTI_SUCCESS) result = enable_our_kinds(api);
    if (result != CUPTI_SUCCESS) end_our_records();
    return result;
}

void end_our_records() noexcept {
    const CuptiApi* api = ours.load(std::memory_order_acquire);
    if (api == nullptr) return;
    flush(may_flush());
    ours.store(nullptr, std::memory_order_release);
    disable_our_kinds(*api);
}

bool host_has_records() noexcept {
    return host_request.load(std::memory_order_acquire) != nullptr || hosts_kinds() != 0;
}

void flush_before_detach() noexcept {
    flush(true);
}

void forget_records() noexcept {
    ours.store(nullptr, std::memory_order_release);
    is_registered.store(false, std::memory_order_release);
    host_request.store(nullptr, std::memory_order_relaxed);
    host_complete.store(nullptr, std::memory_order_relaxed);
    forget_withheld();
    withholds_all.store(false, std::memory_order_relaxed);
    forget_session();
    hosts_in_flight.store(0, std::memory_order_relaxed);
    forget_host_clock();
}

void forget_records_after_fork() noexcept {
    forget_records();
    our_flushes.store(0, std::memory_order_relaxed);
    buffer_choices.store(0, std::memory_order_relaxed);
}

void flush_periodically() noexcept {
    leave_session_if_abandoned();
    const Counted in_progress(our_flushes);
    if (may_flush() && activity_buffers_in_flight() > 0) flush(false);
}

void flush_at_end(const CuptiApi& api) noexcept {
    if (host_request.load(std::memory_order_acquire) != nullptr) withholds_all.store(true, std::memory_order_release);
    api.flush_all(0);
    // In a session the host will still flush by itself: by force, what runs would come to it without times.
    if (may_flush()) api.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

std::uint64_t take_dropped(const CuptiApi& api) noexcept {
    std::size_t dropped = 0;
    if (api.get_dropped(nullptr, 0, &dropped) != CUPTI_SUCCESS) dropped = 0;
    if (dropped > 0 && !may_flush()) dropped_for_host.fetch_add(dropped, std::memory_order_relaxed);
    return dropped + dropped_for_us.exchange(0, std::memory_order_relaxed);
}

std::uint64_t buffer_callback_ns() noexcept {
    return callback_total_ns.load(std::memory_order_relaxed);
}

}  // namespace gpuspy::hook

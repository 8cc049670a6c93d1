#include "interpose/device/shared_buffers.hpp"

#include <time.h>

#include <atomic>

#include "collector/ring/clock.hpp"
#include "interpose/device/buffers.hpp"
#include "interpose/device/cupti_host.hpp"
#include "interpose/device/host_clock.hpp"
#include "interpose/device/host_records.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook {
namespace {

/// For the drain thread to read what came back.
constexpr std::uint32_t kReadMs = 1000;
/// A host that does not flush after its session is waited for no longer.
constexpr std::uint64_t kPatienceNs = 5'000'000'000;

enum class Session : std::uint32_t {
    kNone,      ///< CUPTI fills our buffers.
    kOn,        ///< It fills the host's.
    kDraining,  ///< Still: the host has disabled everything, and has not flushed yet.
};

constinit std::atomic<const CuptiApi*> ours{nullptr};  ///< nullptr: we record no device times.
constinit std::atomic<CUpti_BuffersCallbackRequestFunc> host_request{nullptr};
constinit std::atomic<CUpti_BuffersCallbackCompleteFunc> host_complete{nullptr};
constinit std::atomic<bool> is_registered{false};  ///< Our two callbacks, with CUPTI.
constinit std::atomic<Session> session{Session::kNone};
constinit std::atomic<Kinds> host_kinds{0};                  ///< That the host has enabled.
constinit std::atomic<Kinds> session_kinds{0};               ///< That it had enabled at any time of its session.
constinit std::atomic<Kinds> all_host_kinds{0};              ///< That it has enabled at any time.
constinit std::atomic<std::uint32_t> newest_correlation{0};  ///< Of calls during a session.
constinit std::atomic<std::uint64_t> session_end{0};  ///< kOver | the newest correlation id then; 0: it is not over.
constinit std::atomic<std::uint64_t> draining_since_ns{0};  ///< CLOCK_MONOTONIC.
constinit std::atomic<std::int32_t> hosts_in_flight{0};     ///< Buffers of the host's that CUPTI holds.
constinit std::atomic<std::uint64_t> dropped_for_us{0};
constinit std::atomic<std::uint64_t> dropped_for_host{0};
constinit std::atomic<std::uint64_t> callback_total_ns{0};

constexpr std::uint64_t kOver = std::uint64_t{1} << 32;

/// A buffer of the host's that CUPTI gave back.
struct Full {
    CUcontext context;
    std::uint32_t stream;
    std::uint8_t* buffer;
    std::size_t bytes;
    std::size_t valid_bytes;
};

/// Those that came back in a flush of ours, until the host flushes: it expects none before, may hold a lock that its callback takes, or
/// be gone already when ours is the last flush.
constexpr std::uint32_t kMaxWithheld = 256;
enum Place : std::uint32_t { kFree, kWritten, kThere };
struct Withheld {
    std::atomic<std::uint32_t> place;
    Full full;
};
constinit Withheld withheld[kMaxWithheld]{};
constinit std::atomic<bool> withholds_all{false};  ///< In our last flush, whichever thread CUPTI uses for it.

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
           (session.load(std::memory_order_acquire) != Session::kNone ||
            ours.load(std::memory_order_relaxed) == nullptr);
}

void complete(const Full& full) noexcept {
    const OutsideGpuspy hosts;
    if (const auto function = host_complete.load(std::memory_order_relaxed)) {
        function(full.context, full.stream, full.buffer, full.bytes, full.valid_bytes);
    }
}

bool withhold(const Full& full) noexcept {
    for (Withheld& one : withheld) {
        std::uint32_t expected = kFree;
        if (!one.place.compare_exchange_strong(expected, kWritten, std::memory_order_acquire)) continue;
        one.full = full;
        one.place.store(kThere, std::memory_order_release);
        return true;
    }
    return false;
}

void hand_on_withheld() noexcept {
    for (Withheld& one : withheld) {
        std::uint32_t expected = kThere;
        if (!one.place.compare_exchange_strong(expected, kWritten, std::memory_order_acquire)) continue;
        const Full full = one.full;
        one.place.store(kFree, std::memory_order_release);
        complete(full);
    }
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    if (wants_hosts_buffer()) {
        *buffer = nullptr;
        {
            const OutsideGpuspy hosts;
            host_request.load(std::memory_order_relaxed)(buffer, bytes, max_records);
        }
        if (*buffer != nullptr) hosts_in_flight.fetch_add(1, std::memory_order_relaxed);
        // Refused (newer torch.profiler, when it has enough): what would be lost alone is ours.
        if (*buffer != nullptr || ours.load(std::memory_order_relaxed) == nullptr) return;
    }
    const Timed timed;
    *buffer = take_activity_buffer();
    *bytes = kActivityBufferBytes;
    *max_records = 0;  // as many as fit
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
            const std::uint64_t end = session_end.load(std::memory_order_relaxed);
            share_hosts_buffer(
                *api, buffer, valid_bytes,
                {session_kinds.load(std::memory_order_relaxed), (end & kOver) != 0, static_cast<std::uint32_t>(end)});
            wake_drain();
        } else {
            leave_hosts_buffer(buffer);
        }
    }
    if (hosts_in_flight.load(std::memory_order_relaxed) > 0) hosts_in_flight.fetch_sub(1, std::memory_order_relaxed);
    const Full full{context, stream, buffer, bytes, valid_bytes};
    const bool is_ours = thread_local_state.flushes_for_us || withholds_all.load(std::memory_order_acquire);
    if (!is_ours || !withhold(full)) complete(full);
}

/// Of our own accord. Without force first: by force what still runs comes back without times, and does not come again.
void flush(bool by_force) noexcept {
    const CuptiApi* api = ours.load(std::memory_order_acquire);
    if (api == nullptr) return;
    const InsideGpuspy inside;
    thread_local_state.flushes_for_us = true;
    api->flush_all(0);
    if (by_force && activity_buffers_in_flight() > 0) api->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    thread_local_state.flushes_for_us = false;
}

/// Whether CUPTI may be made to give back what is not full. Not while the host waits for it: torch.profiler takes no buffer that came
/// of itself.
bool may_flush() noexcept {
    return session.load(std::memory_order_acquire) == Session::kNone;
}

void begin_session_if_due() noexcept {
    if (host_request.load(std::memory_order_relaxed) == nullptr || host_kinds.load(std::memory_order_relaxed) == 0)
        return;
    const Session before = session.load(std::memory_order_acquire);
    if (before == Session::kOn) return;
    session_end.store(0, std::memory_order_relaxed);
    if (before == Session::kNone) {
        flush(true);  // else the host's first records would come in a buffer of ours
    }
    session_kinds.fetch_or(host_kinds.load(std::memory_order_relaxed), std::memory_order_relaxed);
    session.store(Session::kOn, std::memory_order_release);
    // One that CUPTI took meanwhile.
    if (before == Session::kNone && activity_buffers_in_flight() > 0) flush(true);
}

void end_session_if_due() noexcept {
    if (host_kinds.load(std::memory_order_relaxed) != 0 || session.load(std::memory_order_acquire) != Session::kOn)
        return;
    session_end.store(kOver | newest_correlation.load(std::memory_order_relaxed), std::memory_order_relaxed);
    draining_since_ns.store(ring::read_clock_ns(CLOCK_MONOTONIC), std::memory_order_relaxed);
    session.store(Session::kDraining, std::memory_order_release);
}

void leave_session() noexcept {
    Session draining = Session::kDraining;
    if (session.compare_exchange_strong(draining, Session::kNone, std::memory_order_acq_rel)) {
        session_kinds.store(host_kinds.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
}

}  // namespace

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

CUptiResult host_flushes(decltype(&::cuptiActivityFlushAll) original, std::uint32_t flag) noexcept {
    withholds_all.store(false, std::memory_order_release);
    hand_on_withheld();
    CUptiResult result = original(flag);
    if (session.load(std::memory_order_acquire) != Session::kDraining) return result;
    // The host's records are all out, as far as they would be alone; its last buffer is not, if work of ours goes on in it. It must not
    // come later: the host may have let go of what its callback needs.
    leave_session();
    constexpr int kTries = 3;
    for (int i = 0; i < kTries && result == CUPTI_SUCCESS && hosts_in_flight.load(std::memory_order_relaxed) > 0; ++i) {
        result = original(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    }
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

bool host_enables_kind(CUpti_ActivityKind kind) noexcept {
    const CuptiApi* api = ours.load(std::memory_order_acquire);
    const Kinds before = host_kinds.load(std::memory_order_acquire);
    // Either form of kernel records excludes the other. The host wants kernels one by one: it gets what it would get alone.
    if (kind == CUPTI_ACTIVITY_KIND_KERNEL && api != nullptr &&
        (before & bit_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) == 0) {
        api->disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    }
    host_kinds.fetch_or(bit_of(kind), std::memory_order_acq_rel);
    session_kinds.fetch_or(bit_of(kind), std::memory_order_relaxed);
    all_host_kinds.fetch_or(bit_of(kind), std::memory_order_relaxed);
    begin_session_if_due();
    return (before & bit_of(kind)) == 0;
}

void host_failed_to_enable(CUpti_ActivityKind kind) noexcept {
    host_disabled_kind(kind);
}

bool may_disable_kind(CUpti_ActivityKind kind) noexcept {
    return ours.load(std::memory_order_acquire) == nullptr || (bit_of(kind) & kOurKindBits) == 0;
}

void host_disabled_kind(CUpti_ActivityKind kind) noexcept {
    const CuptiApi* api = ours.load(std::memory_order_acquire);
    if (kind == CUPTI_ACTIVITY_KIND_KERNEL && api != nullptr) api->enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    host_kinds.fetch_and(~bit_of(kind), std::memory_order_acq_rel);
    end_session_if_due();
}

void note_correlation(std::uint32_t correlation) noexcept {
    if (session.load(std::memory_order_relaxed) != Session::kOn) return;
    std::uint32_t newest = newest_correlation.load(std::memory_order_relaxed);
    while (static_cast<std::int32_t>(correlation - newest) > 0 &&
           !newest_correlation.compare_exchange_weak(newest, correlation, std::memory_order_relaxed)) {
    }
}

CUptiResult begin_our_records(const CuptiApi& api) noexcept {
    CUptiResult result = CUPTI_SUCCESS;
    if (!is_registered.load(std::memory_order_acquire)) {
        result = api.register_callbacks(buffer_requested, buffer_completed);
        if (result == CUPTI_SUCCESS) is_registered.store(true, std::memory_order_release);
    }
    ours.store(&api, std::memory_order_release);
    const Kinds hosts = host_kinds.load(std::memory_order_acquire);
    for (const CUpti_ActivityKind kind : kOurKinds) {
        const bool is_excluded =
            kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && (hosts & bit_of(CUPTI_ACTIVITY_KIND_KERNEL)) != 0;
        if (result == CUPTI_SUCCESS && !is_excluded) result = api.enable(kind);
    }
    if (result != CUPTI_SUCCESS) end_our_records();
    return result;
}

void end_our_records() noexcept {
    const CuptiApi* api = ours.load(std::memory_order_acquire);
    if (api == nullptr) return;
    flush(may_flush());
    ours.store(nullptr, std::memory_order_release);
    const Kinds hosts = host_kinds.load(std::memory_order_acquire);
    for (const CUpti_ActivityKind kind : kOurKinds) {
        if ((hosts & bit_of(kind)) == 0) api->disable(kind);
    }
}

bool host_has_records() noexcept {
    return host_request.load(std::memory_order_acquire) != nullptr || host_kinds.load(std::memory_order_acquire) != 0;
}

void flush_before_detach() noexcept {
    flush(true);
}

void forget_records() noexcept {
    ours.store(nullptr, std::memory_order_release);
    is_registered.store(false, std::memory_order_release);
    host_request.store(nullptr, std::memory_order_relaxed);
    host_complete.store(nullptr, std::memory_order_relaxed);
    for (Withheld& one : withheld) one.place.store(kFree, std::memory_order_relaxed);
    withholds_all.store(false, std::memory_order_relaxed);
    newest_correlation.store(0, std::memory_order_relaxed);
    session_end.store(0, std::memory_order_relaxed);
    host_kinds.store(0, std::memory_order_relaxed);
    session_kinds.store(0, std::memory_order_relaxed);
    session.store(Session::kNone, std::memory_order_release);
    hosts_in_flight.store(0, std::memory_order_relaxed);
    forget_host_clock();
}

void flush_periodically() noexcept {
    if (session.load(std::memory_order_acquire) == Session::kDraining &&
        ring::read_clock_ns(CLOCK_MONOTONIC) - draining_since_ns.load(std::memory_order_relaxed) > kPatienceNs) {
        leave_session();
    }
    if (may_flush() && activity_buffers_in_flight() > 0) flush(false);
}

void flush_at_end(const CuptiApi& api) noexcept {
    if (host_request.load(std::memory_order_acquire) != nullptr) withholds_all.store(true, std::memory_order_release);
    api.flush_all(0);
    // In a session the host will still flush by itself: by force, what runs would come to it without times.
    if (may_flush()) api.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

bool is_hosts_kind(CUpti_ActivityKind kind) noexcept {
    return (all_host_kinds.load(std::memory_order_relaxed) & bit_of(kind)) != 0;
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

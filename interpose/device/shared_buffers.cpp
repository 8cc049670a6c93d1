#include "interpose/device/shared_buffers.hpp"

#include <time.h>

#include <atomic>

#include "collector/ring/clock.hpp"
#include "interpose/device/buffers.hpp"
#include "interpose/device/cupti_host.hpp"
#include "interpose/device/host_clock.hpp"
#include "interpose/device/records.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/record/handle_map.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook {
namespace {

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
constexpr std::uint32_t kFlushPeriodMs = 200;

/// A set of kinds. Those beyond 63, of a CUPTI newer than our headers, are never ours.
constexpr std::uint64_t bit_of(std::uint32_t kind) noexcept {
    return kind < 64 ? std::uint64_t{1} << kind : 0;
}
static_assert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL < 64 && CUPTI_ACTIVITY_KIND_MEMCPY2 < 64);

constexpr std::uint64_t kOurKinds = bit_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) | bit_of(CUPTI_ACTIVITY_KIND_MEMCPY) |
                                    bit_of(CUPTI_ACTIVITY_KIND_MEMCPY2) | bit_of(CUPTI_ACTIVITY_KIND_MEMSET);
constexpr std::uint64_t kAllKinds = ~std::uint64_t{0};

constinit std::atomic<const CuptiApi*> ours{nullptr};  ///< nullptr: we record no device times.
constinit std::atomic<CUpti_BuffersCallbackRequestFunc> host_request{nullptr};
constinit std::atomic<CUpti_BuffersCallbackCompleteFunc> host_complete{nullptr};
constinit std::atomic<bool> is_registered{false};        ///< Our two callbacks, with CUPTI.
constinit std::atomic<std::uint64_t> host_kinds{0};      ///< That the host has enabled.
constinit std::atomic<std::uint64_t> session_kinds{0};   ///< That it had enabled at any time of its session.
constinit std::atomic<std::uint64_t> all_host_kinds{0};  ///< That it has enabled at any time.
constinit std::atomic<bool> has_session{false};
constinit std::atomic<std::int32_t> hosts_in_flight{0};  ///< Buffers of the host's that CUPTI holds.
constinit std::atomic<std::uint64_t> session_end_ns{0};  ///< CLOCK_MONOTONIC.
constinit std::atomic<std::uint32_t> host_period_ms{0};  ///< As the host set it, or CUPTI's default.
constinit std::atomic<std::uint32_t> period_ms{0};       ///< As it is now.
constinit HandleMap kinds_of_buffer;                     ///< Of the host's buffers that hold records of ours too.
constinit std::atomic<bool> has_filtered_buffers{false};
constinit std::atomic<std::uint64_t> dropped_for_us{0};
constinit std::atomic<std::uint64_t> dropped_for_host{0};
constinit std::atomic<std::uint64_t> callback_total_ns{0};

/// Buffers of the host's that came back in our last flush.
struct Withheld {
    CUcontext context;
    std::uint32_t stream;
    std::uint8_t* buffer;
    std::size_t bytes;
    std::size_t valid_bytes;
};
constexpr std::uint32_t kMaxWithheld = 256;
constinit Withheld withheld[kMaxWithheld]{};
constinit std::atomic<std::uint32_t> withheld_count{0};
constinit std::atomic<bool> withholds{false};

class Timed {
public:
    Timed() noexcept : begin_(ring::read_clock_ns(CLOCK_MONOTONIC)) {}
    ~Timed() { callback_total_ns.fetch_add(ring::read_clock_ns(CLOCK_MONOTONIC) - begin_, std::memory_order_relaxed); }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

private:
    std::uint64_t begin_;
};

/// Records read out of buffers of the host's, in one buffer of ours after the other: sessions may be short, and many.
class Copies {
public:
    constexpr Copies() noexcept = default;
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;

    void add(const ActivityRecord* records, std::uint32_t count) noexcept {
        const Locked guard(lock_);
        for (std::uint32_t i = 0; i < count; ++i) {
            if ((count_ + 1) * sizeof *records > kActivityBufferBytes || clock_ != current_clock()) give_locked();
            if (buffer_ == nullptr) {
                buffer_ = take_activity_buffer();
                clock_ = current_clock();
            }
            if (is_scratch_buffer(buffer_)) {
                count_loss(abi::LossCause::kScratchBuffer, 1);
                buffer_ = nullptr;  // one may be free by the next record
                continue;
            }
            __builtin_memcpy(buffer_ + count_ * sizeof *records, &records[i], sizeof *records);
            ++count_;
        }
    }

    /// To the drain thread, full or not.
    void give() noexcept {
        const Locked guard(lock_);
        give_locked();
    }

private:
    void give_locked() noexcept {
        if (buffer_ != nullptr) {
            give_activity_buffer(buffer_, {count_ * sizeof(ActivityRecord), true, clock_, count_});
        }
        buffer_ = nullptr;
        count_ = 0;
    }

    SpinLock lock_;
    std::uint8_t* buffer_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint32_t clock_ = 0;
};
constinit Copies copies;

void read_hosts_buffer(const CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
    constexpr std::uint32_t kBatch = 8;  // the host's stack may be small, and no lock is held while CUPTI reads
    ActivityRecord batch[kBatch];
    std::uint32_t count = 0;
    CUpti_Activity* record = nullptr;
    while (api.get_next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
        if (read_record(api, record, batch[count])) ++count;
        if (count == kBatch) {
            copies.add(batch, count);
            count = 0;
        }
    }
    copies.add(batch, count);
}

/// Whether CUPTI is to fill the host's buffers.
bool wants_hosts_buffer() noexcept {
    return host_request.load(std::memory_order_relaxed) != nullptr &&
           (has_session.load(std::memory_order_acquire) || ours.load(std::memory_order_relaxed) == nullptr);
}

void hand_on(const Withheld& full) noexcept {
    if (withholds.load(std::memory_order_acquire)) {
        const std::uint32_t index = withheld_count.fetch_add(1, std::memory_order_relaxed);
        if (index < kMaxWithheld) withheld[index] = full;
        return;
    }
    const OutsideGpuspy hosts;
    if (const auto complete = host_complete.load(std::memory_order_relaxed)) {
        complete(full.context, full.stream, full.buffer, full.bytes, full.valid_bytes);
    }
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    if (wants_hosts_buffer()) {
        const OutsideGpuspy hosts;
        host_request.load(std::memory_order_relaxed)(buffer, bytes, max_records);
        hosts_in_flight.fetch_add(1, std::memory_order_relaxed);
        return;
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
        const CuptiApi* api = ours.load(std::memory_order_acquire);
        const auto handle = reinterpret_cast<std::uintptr_t>(buffer);
        if (api != nullptr) {
            read_hosts_buffer(*api, buffer, valid_bytes);
            wake_drain();
            kinds_of_buffer.set(handle, session_kinds.load(std::memory_order_relaxed));
            has_filtered_buffers.store(true, std::memory_order_release);
        } else if (has_filtered_buffers.load(std::memory_order_acquire)) {
            kinds_of_buffer.set(handle, kAllKinds);  // the same memory may have held ours before
        }
    }
    hosts_in_flight.fetch_sub(1, std::memory_order_relaxed);
    hand_on({context, stream, buffer, bytes, valid_bytes});
}

void flush(std::uint32_t flag) noexcept {
    if (const CuptiApi* api = ours.load(std::memory_order_acquire)) {
        const InsideGpuspy inside;
        api->flush_all(flag);
    }
}

/// Whether CUPTI may be made to give back what is not full. Not while the host waits for it: it may take a buffer that comes of itself
/// for one that is not its own affair any more (torch.profiler). A host that does not flush after its session is waited for in vain.
bool may_flush() noexcept {
    constexpr std::uint64_t kPatienceNs = 5'000'000'000;
    if (has_session.load(std::memory_order_acquire)) return false;
    return hosts_in_flight.load(std::memory_order_relaxed) <= 0 ||
           ring::read_clock_ns(CLOCK_MONOTONIC) - session_end_ns.load(std::memory_order_relaxed) > kPatienceNs;
}

void set_period(const CuptiApi& api, std::uint32_t wanted_ms) noexcept {
    if (api.flush_period == nullptr || period_ms.exchange(wanted_ms, std::memory_order_acq_rel) == wanted_ms) return;
    api.flush_period(wanted_ms);
}

void begin_session_if_due() noexcept {
    if (host_request.load(std::memory_order_relaxed) == nullptr || host_kinds.load(std::memory_order_relaxed) == 0)
        return;
    if (has_session.exchange(true, std::memory_order_acq_rel)) return;
    session_kinds.store(host_kinds.load(std::memory_order_relaxed), std::memory_order_relaxed);
    dropped_for_host.store(0, std::memory_order_relaxed);
    if (const CuptiApi* api = ours.load(std::memory_order_acquire)) {
        set_period(*api, host_period_ms.load(std::memory_order_relaxed));
    }
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

void end_session_if_due() noexcept {
    if (host_kinds.load(std::memory_order_relaxed) != 0) return;
    session_end_ns.store(ring::read_clock_ns(CLOCK_MONOTONIC), std::memory_order_relaxed);
    // No flush: the host's last buffers stay until it flushes, as they would without us. (torch.profiler takes none that came before.)
    has_session.store(false, std::memory_order_release);
}

}  // namespace

CUptiResult host_registers_callbacks(decltype(&::cuptiActivityRegisterCallbacks) original,
                                     CUpti_BuffersCallbackRequestFunc request,
                                     CUpti_BuffersCallbackCompleteFunc complete) noexcept {
    if (request == nullptr || complete == nullptr) return original(request, complete);
    if (!is_registered.load(std::memory_order_acquire)) {
        const CUptiResult result = original(buffer_requested, buffer_completed);
        if (result != CUPTI_SUCCESS) return result;
        is_registered.store(true, std::memory_order_release);
    }
    keep_loaded(reinterpret_cast<const void*>(request));
    keep_loaded(reinterpret_cast<const void*>(complete));
    host_complete.store(complete, std::memory_order_relaxed);
    host_request.store(request, std::memory_order_release);
    begin_session_if_due();
    return CUPTI_SUCCESS;
}

CUptiResult host_next_record(decltype(&::cuptiActivityGetNextRecord) original, std::uint8_t* buffer, std::size_t bytes,
                             CUpti_Activity** record) noexcept {
    CUptiResult result = original(buffer, bytes, record);
    if (result != CUPTI_SUCCESS || !has_filtered_buffers.load(std::memory_order_acquire)) return result;
    const std::uint64_t kinds = kinds_of_buffer.get(reinterpret_cast<std::uintptr_t>(buffer));
    if (kinds == 0) return result;
    while (result == CUPTI_SUCCESS && (bit_of((*record)->kind) & kOurKinds & ~kinds) != 0) {
        result = original(buffer, bytes, record);
    }
    return result;
}

CUptiResult host_counts_dropped(decltype(&::cuptiActivityGetNumDroppedRecords) original, CUcontext context,
                                std::uint32_t stream, std::size_t* dropped) noexcept {
    const CUptiResult result = original(context, stream, dropped);
    if (result != CUPTI_SUCCESS || ours.load(std::memory_order_acquire) == nullptr) return result;
    dropped_for_us.fetch_add(*dropped, std::memory_order_relaxed);
    *dropped += dropped_for_host.exchange(0, std::memory_order_relaxed);
    return result;
}

CUptiResult host_sets_flush_period(decltype(&::cuptiActivityFlushPeriod) original, std::uint32_t wanted_ms) noexcept {
    host_period_ms.store(wanted_ms, std::memory_order_relaxed);
    if (ours.load(std::memory_order_acquire) != nullptr && may_flush())
        return CUPTI_SUCCESS;  // ours holds until its session
    period_ms.store(wanted_ms, std::memory_order_relaxed);
    return original(wanted_ms);
}

CUptiResult host_sets_timestamps(decltype(&::cuptiActivityRegisterTimestampCallback) original,
                                 CUpti_TimestampCallbackFunc clock) noexcept {
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);  // what is stamped with the clock before
    return host_sets_clock(original, clock, ours.load(std::memory_order_acquire));
}

CUptiResult host_flushes(decltype(&::cuptiActivityFlushAll) original, std::uint32_t flag) noexcept {
    if (withholds.exchange(false, std::memory_order_acq_rel)) {
        const std::uint32_t count = withheld_count.exchange(0, std::memory_order_relaxed);
        for (std::uint32_t i = 0; i < count && i < kMaxWithheld; ++i) hand_on(withheld[i]);
    }
    const CUptiResult result = original(flag);
    // Alone, nothing would be running that the host has records of. We have: its last buffer would wait for ours.
    const bool waits = !has_session.load(std::memory_order_acquire) &&
                       hosts_in_flight.load(std::memory_order_relaxed) > 0 &&
                       ours.load(std::memory_order_acquire) != nullptr;
    return waits && result == CUPTI_SUCCESS ? original(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) : result;
}

bool host_enables_kind(CUpti_ActivityKind kind) noexcept {
    const CuptiApi* api = ours.load(std::memory_order_acquire);
    // Either form of kernel records excludes the other. The host wants kernels one by one: it gets what it would get alone.
    if (kind == CUPTI_ACTIVITY_KIND_KERNEL && api != nullptr) api->disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    const std::uint64_t before = host_kinds.fetch_or(bit_of(kind), std::memory_order_acq_rel);
    session_kinds.fetch_or(bit_of(kind), std::memory_order_relaxed);
    all_host_kinds.fetch_or(bit_of(kind), std::memory_order_relaxed);
    begin_session_if_due();
    return (before & bit_of(kind)) == 0;
}

void host_failed_to_enable(CUpti_ActivityKind kind) noexcept {
    host_disabled_kind(kind);
}

bool may_disable_kind(CUpti_ActivityKind kind) noexcept {
    return ours.load(std::memory_order_acquire) == nullptr || (bit_of(kind) & kOurKinds) == 0;
}

void host_disabled_kind(CUpti_ActivityKind kind) noexcept {
    const CuptiApi* api = ours.load(std::memory_order_acquire);
    if (kind == CUPTI_ACTIVITY_KIND_KERNEL && api != nullptr) api->enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    host_kinds.fetch_and(~bit_of(kind), std::memory_order_acq_rel);
    end_session_if_due();
}

CUptiResult begin_our_records(const CuptiApi& api) noexcept {
    CUptiResult result = CUPTI_SUCCESS;
    if (!is_registered.load(std::memory_order_acquire)) {
        result = api.register_callbacks(buffer_requested, buffer_completed);
        if (result == CUPTI_SUCCESS) is_registered.store(true, std::memory_order_release);
    }
    ours.store(&api, std::memory_order_release);
    const std::uint64_t hosts = host_kinds.load(std::memory_order_acquire);
    for (const CUpti_ActivityKind kind : kKinds) {
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
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    ours.store(nullptr, std::memory_order_release);
    const std::uint64_t hosts = host_kinds.load(std::memory_order_acquire);
    for (const CUpti_ActivityKind kind : kKinds) {
        if ((hosts & bit_of(kind)) == 0) api->disable(kind);
    }
}

void forget_records() noexcept {
    ours.store(nullptr, std::memory_order_release);
    is_registered.store(false, std::memory_order_release);
    host_request.store(nullptr, std::memory_order_relaxed);
    host_kinds.store(0, std::memory_order_relaxed);
    has_session.store(false, std::memory_order_release);
    hosts_in_flight.store(0, std::memory_order_relaxed);
    host_period_ms.store(0, std::memory_order_relaxed);
    period_ms.store(0, std::memory_order_relaxed);
    forget_host_clock();
}

void flush_if_due(const CuptiApi& api) noexcept {
    static constinit std::uint64_t last_ns = 0;  // the drain thread's own
    const bool may = may_flush();
    set_period(api, may ? kFlushPeriodMs : host_period_ms.load(std::memory_order_relaxed));
    // A session that began meanwhile has found the period that we had before.
    if (may && has_session.load(std::memory_order_acquire)) {
        set_period(api, host_period_ms.load(std::memory_order_relaxed));
    }
    if (api.flush_period != nullptr || !may) return;
    const std::uint64_t now_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
    if (now_ns - last_ns < kFlushPeriodMs * std::uint64_t{1'000'000}) return;
    last_ns = now_ns;
    api.flush_all(0);
}

void flush_at_end(const CuptiApi& api) noexcept {
    if (host_request.load(std::memory_order_acquire) != nullptr) withholds.store(true, std::memory_order_release);
    api.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

bool is_hosts_kind(CUpti_ActivityKind kind) noexcept {
    return bit_of(kind) == 0 || (all_host_kinds.load(std::memory_order_relaxed) & bit_of(kind)) != 0;
}

std::uint64_t take_dropped(const CuptiApi& api) noexcept {
    std::size_t dropped = 0;
    if (api.get_dropped(nullptr, 0, &dropped) != CUPTI_SUCCESS) dropped = 0;
    if (dropped > 0 && has_session.load(std::memory_order_acquire)) {
        dropped_for_host.fetch_add(dropped, std::memory_order_relaxed);
    }
    return dropped + dropped_for_us.exchange(0, std::memory_order_relaxed);
}

void give_copies() noexcept {
    copies.give();
}

std::uint64_t buffer_callback_ns() noexcept {
    return callback_total_ns.load(std::memory_order_relaxed);
}

}  // namespace gpuspy::hook

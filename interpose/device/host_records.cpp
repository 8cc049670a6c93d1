#include "interpose/device/host_records.hpp"

#include <atomic>

#include "interpose/device/buffers.hpp"
#include "interpose/device/records.hpp"
#include "interpose/lifecycle/glibc.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/record/handle_map.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook {
namespace {

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

    void forget() noexcept {
        const Locked guard(lock_);
        buffer_ = nullptr;
        count_ = 0;
    }

private:
    void give_locked() noexcept {
        if (buffer_ != nullptr) {
            give_activity_buffer(buffer_, {count_ * sizeof(ActivityRecord), true, clock_, count_});
        }
        buffer_ = nullptr;
        count_ = 0;
    }

    SetUpLock lock_;
    std::uint8_t* buffer_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint32_t clock_ = 0;
};
constinit Copies copies;

/// What of a buffer is hidden from the host, in one word: a bit for each of kOurKinds, the last correlation id above. 0: nothing is.
constexpr std::uint64_t kKnown = 1U << 4;
constexpr std::uint64_t kOver = 1U << 5;
/// The buffer is CUPTI's to fill; above, the number of the host's session.
constexpr std::uint64_t kFilling = 1U << 6;

std::uint64_t to_word(const HostView& view) noexcept {
    std::uint64_t word = kKnown | (view.is_over ? kOver : 0) | std::uint64_t{view.last_correlation} << 32;
    for (std::size_t i = 0; i < 4; ++i) word |= (view.kinds & bit_of(kOurKinds[i])) == 0 ? std::uint64_t{1} << i : 0;
    return word;
}

constinit HandleMap words_of_buffers;
/// Counts changes: 0 before the first, then never again.
constinit std::atomic<std::uint32_t> words_version{0};

/// Called for every record that the host reads: the last answer is kept by the thread until any buffer's changes.
std::uint64_t word_of(std::uint8_t* buffer, std::uint32_t version) noexcept {
    ThreadLocal& local = thread_local_state;
    const auto handle = reinterpret_cast<std::uintptr_t>(buffer);
    if (local.read_buffer != handle || local.read_version != version) {
        const SignalsHeld no_signals;
        local.read_word = words_of_buffers.get(handle);
        local.read_buffer = handle;
        local.read_version = version;
    }
    return local.read_word;
}

/// Ids of our threads in records, in both forms that CUPTI has. The drain thread and the flusher, and no others.
constexpr std::uint32_t kMaxOwnThreads = 4;
struct OwnThread {
    std::atomic<std::uint32_t> tid;
    std::atomic<std::uint32_t> handle;  ///< Of pthread_self(), the lower half.
};
constinit OwnThread own_threads[kMaxOwnThreads]{};
constinit std::atomic<std::uint32_t> own_thread_count{0};

bool is_own_thread(std::uint32_t id) noexcept {
    if (id == 0) return false;
    for (const OwnThread& thread : own_threads) {
        if (thread.tid.load(std::memory_order_relaxed) == id || thread.handle.load(std::memory_order_relaxed) == id) {
            return true;
        }
    }
    return false;
}

template <class Activity>
bool is_later(const CUpti_Activity* record, std::uint64_t word) noexcept {
    // Ids are given in the order of calls, and wrap.
    const void* bytes = record;
    const auto last = static_cast<std::uint32_t>(word >> 32);
    return (word & kOver) != 0 &&
           static_cast<std::int32_t>(static_cast<const Activity*>(bytes)->correlationId - last) > 0;
}

bool is_hidden(const CUpti_Activity* record, std::uint64_t word) noexcept {
    switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return (word & 1) != 0 || is_later<CUpti_ActivityKernel10>(record, word);
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return (word & 2) != 0 || is_later<CUpti_ActivityMemcpy6>(record, word);
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            return (word & 4) != 0 || is_later<CUpti_ActivityMemcpyPtoP4>(record, word);
        case CUPTI_ACTIVITY_KIND_MEMSET:
            return (word & 8) != 0 || is_later<CUpti_ActivityMemset4>(record, word);
        case CUPTI_ACTIVITY_KIND_DRIVER:
        case CUPTI_ACTIVITY_KIND_RUNTIME: {
            const void* bytes = record;
            return is_own_thread(static_cast<const CUpti_ActivityAPI*>(bytes)->threadId);
        }
        default:
            return false;
    }
}

void set_word(std::uint8_t* buffer, std::uint64_t word) noexcept {
    words_of_buffers.set(reinterpret_cast<std::uintptr_t>(buffer), word);
    if (words_version.fetch_add(1, std::memory_order_release) == UINT32_MAX) {
        words_version.fetch_add(1, std::memory_order_release);
    }
}

}  // namespace

void note_session_of_buffer(std::uint8_t* buffer, std::uint32_t session) noexcept {
    const SignalsHeld no_signals;
    // No change that a reader must see: nobody reads it before it comes back.
    words_of_buffers.set(reinterpret_cast<std::uintptr_t>(buffer), kFilling | std::uint64_t{session} << 32);
}

std::uint32_t session_of_buffer(std::uint8_t* buffer, std::uint32_t unknown) noexcept {
    const SignalsHeld no_signals;
    const std::uint64_t word = words_of_buffers.get(reinterpret_cast<std::uintptr_t>(buffer));
    return (word & kFilling) != 0 ? static_cast<std::uint32_t>(word >> 32) : unknown;
}

void share_hosts_buffer(const CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes,
                        const HostView& view) noexcept {
    const SignalsHeld no_signals;        // locks are taken, and the host's thread may be the one that flushes
    constexpr std::uint32_t kBatch = 8;  // its stack may be small
    ActivityRecord batch[kBatch];
    std::uint32_t count = 0;
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = api.get_next_record(buffer, valid_bytes, &record)) == CUPTI_SUCCESS) {
        if (read_record(api, record, batch[count])) ++count;
        if (count == kBatch) {
            copies.add(batch, count);
            count = 0;
        }
    }
    copies.add(batch, count);
    if (valid_bytes > 0 && result != CUPTI_ERROR_MAX_LIMIT_REACHED) count_loss(abi::LossCause::kUnparsedRecord, 1);
    set_word(buffer, to_word(view));
}

void leave_hosts_buffer(std::uint8_t* buffer) noexcept {
    if (words_version.load(std::memory_order_acquire) == 0) return;
    const SignalsHeld no_signals;
    set_word(buffer, 0);
}

CUptiResult host_next_record(decltype(&::cuptiActivityGetNextRecord) original, std::uint8_t* buffer, std::size_t bytes,
                             CUpti_Activity** record) noexcept {
    CUptiResult result = original(buffer, bytes, record);
    const std::uint32_t version = words_version.load(std::memory_order_acquire);
    if (result != CUPTI_SUCCESS || version == 0) return result;
    const std::uint64_t word = word_of(buffer, version);
    while (word != 0 && result == CUPTI_SUCCESS && is_hidden(*record, word)) result = original(buffer, bytes, record);
    return result;
}

void hide_calls_of_this_thread() noexcept {
    const std::uint32_t index = own_thread_count.fetch_add(1, std::memory_order_relaxed);
    if (index >= kMaxOwnThreads) return;
    own_threads[index].tid.store(static_cast<std::uint32_t>(current_tid()), std::memory_order_relaxed);
    own_threads[index].handle.store(static_cast<std::uint32_t>(pthread_self()), std::memory_order_relaxed);
}

void give_copies() noexcept {
    copies.give();
}

void forget_copies() noexcept {
    copies.forget();
    for (OwnThread& thread : own_threads) {
        thread.tid.store(0, std::memory_order_relaxed);
        thread.handle.store(0, std::memory_order_relaxed);
    }
    own_thread_count.store(0, std::memory_order_relaxed);
}

}  // namespace gpuspy::hook

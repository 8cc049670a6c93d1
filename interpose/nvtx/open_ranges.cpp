#include "interpose/nvtx/open_ranges.hpp"

#include <atomic>
#include <cstring>

#include "collector/ring/owned_fd.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/memory.hpp"
#include "interpose/nvtx/text.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook::nvtx {
namespace {

static_assert(sizeof(OpenPushes) <= std::size_t{2} * 4096, "two pages a thread");

constinit SetUpLock pushes_lock;  ///< The list of those without a thread, and the key.
constinit OpenPushes* free_pushes = nullptr;
constinit pthread_key_t pushes_key;
constinit bool has_pushes_key = false;

void thread_ended(void* pointer) noexcept {
    auto* pushes = static_cast<OpenPushes*>(pointer);
    if (thread_local_state.pushes != pushes) return;
    // A destructor of the host that pushes after this one gets others.
    thread_local_state.pushes = nullptr;
    const SignalsHeld no_signals;
    const Locked guard(pushes_lock);
    pushes->next_free = free_pushes;
    free_pushes = pushes;
}

OpenPushes* make_pushes() noexcept {
    const ring::ErrnoGuard keep_errno;
    const SignalsHeld no_signals;
    const InsideGpuspy inside;
    OpenPushes* pushes = nullptr;
    {
        const Locked guard(pushes_lock);
        if (!has_pushes_key) has_pushes_key = gpuspy_pthread_key_create(&pushes_key, thread_ended) == 0;
        pushes = free_pushes;
        if (pushes != nullptr) free_pushes = pushes->next_free;
    }
    if (pushes != nullptr) {
        std::memset(pushes, 0, offsetof(OpenPushes, kept));
    } else {
        pushes = static_cast<OpenPushes*>(map_memory(sizeof(OpenPushes)));
    }
    // Before the C library is told, which may allocate: an allocator of the host's that has ranges comes back here.
    thread_local_state.pushes = pushes;
    if (pushes != nullptr && has_pushes_key) gpuspy_pthread_setspecific(pushes_key, pushes);
    return pushes;
}

/// Place of the kept push of this domain and level; `count`: none.
std::uint32_t find_kept(const OpenPushes& pushes, std::uint32_t domain, std::uint32_t level) noexcept {
    for (std::uint32_t i = pushes.count; i > 0; --i) {
        if (pushes.kept[i - 1].domain == domain && pushes.kept[i - 1].level == level) return i - 1;
    }
    return pushes.count;
}

/// Without a lock, since starts come on any thread and in signal handlers: a slot is taken by its state.
struct StartSlot {
    std::atomic<std::uint64_t> id;  ///< 0: free; kFilling: being written; else whose it is.
    OpenStart start;
};
constexpr std::uint64_t kFilling = ~std::uint64_t{0};
constexpr std::size_t kStartSlots = 256;

constinit StartSlot start_slots[kStartSlots]{};
constinit std::atomic<std::uint64_t> last_id{0};

}  // namespace

std::uint32_t OpenPushes::push(std::uint64_t ticks, const Domain& domain, const char* from,
                               std::size_t bytes) noexcept {
    const std::uint32_t level = levels[domain.index]++;
    if (count == kMaxKept) return level;
    const std::uint32_t used = count == 0 ? 0 : kept[count - 1].text_offset + kept[count - 1].text_bytes;
    const std::size_t taken = cut_text(from, bytes, kTextBytes - used);
    std::memcpy(text + used, from, taken);
    kept[count] = {ticks, level, static_cast<std::uint16_t>(domain.index), static_cast<std::uint16_t>(taken), used, 0};
    ++count;
    return level;
}

std::int64_t OpenPushes::pop(const Domain& domain) noexcept {
    if (levels[domain.index] == 0) return -1;
    const std::uint32_t level = --levels[domain.index];
    const std::uint32_t at = find_kept(*this, domain.index, level);
    if (at < count) {
        // Ranges of other domains need not nest in this one: those above it move down.
        std::memmove(&kept[at], &kept[at + 1], (count - at - 1) * sizeof kept[0]);
        --count;
    }
    return level;
}

OpenPushes* open_pushes() noexcept {
    OpenPushes* pushes = thread_local_state.pushes;
    return pushes != nullptr ? pushes : make_pushes();
}

const OpenPushes* known_open_pushes() noexcept {
    return thread_local_state.pushes;
}

std::uint64_t next_range_id() noexcept {
    return last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

void keep_start(std::uint64_t id, std::uint64_t ticks, const Domain& domain, const char* text,
                std::size_t bytes) noexcept {
    StartSlot& slot = start_slots[id % kStartSlots];
    std::uint64_t free = 0;
    if (!slot.id.compare_exchange_strong(free, kFilling, std::memory_order_acquire)) return;
    slot.start.id = id;
    slot.start.begin_ticks = ticks;
    slot.start.domain = &domain;
    slot.start.text_bytes = static_cast<std::uint32_t>(cut_text(text, bytes, sizeof slot.start.text));
    std::memcpy(slot.start.text, text, slot.start.text_bytes);
    // Pairs with the acquire in for_each_open_start.
    slot.id.store(id, std::memory_order_release);
}

void forget_start(std::uint64_t id) noexcept {
    if (id == 0 || id == kFilling) return;
    std::uint64_t expected = id;
    start_slots[id % kStartSlots].id.compare_exchange_strong(expected, 0, std::memory_order_acq_rel);
}

void forget_half_made_starts() noexcept {
    for (StartSlot& slot : start_slots) {
        if (slot.id.load(std::memory_order_relaxed) == kFilling) slot.id.store(0, std::memory_order_relaxed);
    }
}

void for_each_open_start(void (*visit)(void* context, const OpenStart& start) noexcept, void* context) noexcept {
    for (StartSlot& slot : start_slots) {
        const std::uint64_t id = slot.id.load(std::memory_order_acquire);
        if (id == 0 || id == kFilling) continue;
        const OpenStart copy = slot.start;
        std::atomic_thread_fence(std::memory_order_acquire);
        // Ended, and perhaps given to another start, while it was copied?
        if (slot.id.load(std::memory_order_relaxed) == id && copy.id == id) visit(context, copy);
    }
}

}  // namespace gpuspy::hook::nvtx

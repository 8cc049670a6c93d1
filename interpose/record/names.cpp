#include "interpose/record/names.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "collector/ring/clock.hpp"
#include "collector/ring/owned_fd.hpp"
#include "collector/ring/ring.hpp"
#include "interpose/lifecycle/memory.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/lifecycle/wait.hpp"
#include "interpose/resolve/driver_api.hpp"

namespace gpuspy::hook {
namespace {

constexpr std::size_t kMaxNameBytes =
    64 << 10;                        ///< As much as a trace takes of a string. No more than a quarter of the ring.
constexpr unsigned kMaxWaitMs = 50;  ///< For the drain thread to make room, per name.

/// A handle whose name is in the trace.
struct Known {
    std::atomic<std::uint64_t> handle;
    std::atomic<std::uint64_t> name_hash;  ///< 0: it has none.
};

// Open addressing over atomics, so that a launch reads it without a lock; a handle that finds no room is asked for again at each
// launch (slow, not wrong).
constexpr unsigned kHandleBits = 19;
constexpr std::size_t kHandleCount = std::size_t{1} << kHandleBits;
constexpr std::size_t kHandleBytes = kHandleCount * sizeof(Known);  ///< 8 MiB, touched as they fill.
constexpr std::size_t kMaxProbes = 32;

constinit std::atomic<Known*> known_handles{nullptr};
constinit std::atomic<bool> repeats{false};

Known* handles() noexcept {
    auto* table = known_handles.load(std::memory_order_acquire);
    if (table != nullptr) return table;
    auto* made = static_cast<Known*>(map_memory(kHandleBytes));
    if (made == nullptr) return nullptr;
    // The loser's table stays mapped, untouched: it costs address space only.
    return known_handles.compare_exchange_strong(table, made, std::memory_order_acq_rel) ? made : table;
}

std::size_t place_of(std::uint64_t handle) noexcept {
    return static_cast<std::size_t>((handle >> 4) * 0x9e3779b97f4a7c15U >> (64 - kHandleBits));
}

void mark_known(std::uint64_t handle, std::uint64_t name_hash) noexcept {
    auto* table = handles();
    if (table == nullptr) return;
    std::size_t at = place_of(handle);
    for (std::size_t probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) & (kHandleCount - 1)) {
        std::uint64_t there = 0;
        if (table[at].handle.compare_exchange_strong(there, handle, std::memory_order_relaxed) || there == handle) {
            table[at].name_hash.store(name_hash, std::memory_order_relaxed);
            return;
        }
    }
}

/// nullptr: not known.
const Known* find_known(std::uint64_t handle) noexcept {
    const auto* table = known_handles.load(std::memory_order_acquire);
    if (table == nullptr) return nullptr;
    std::size_t at = place_of(handle);
    for (std::size_t probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) & (kHandleCount - 1)) {
        const std::uint64_t there = table[at].handle.load(std::memory_order_relaxed);
        if (there == handle) return &table[at];
        if (there == 0) return nullptr;
    }
    return nullptr;
}

/// FNV-1a, 64 bits; never 0.
std::uint64_t hash_of(const char* name, std::size_t length) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (std::size_t i = 0; i < length; ++i) hash = (hash ^ static_cast<unsigned char>(name[i])) * 0x100000001b3U;
    return hash != 0 ? hash : 1;
}

/// What to do when the ring is full.
enum class WhenFull {
    kWait,   ///< Names come in bursts when modules load, which takes long by itself.
    kGiveUp  ///< On the path of a launch.
};

std::uint64_t* reserve(ThreadState& state, std::uint32_t words, WhenFull when_full) noexcept {
    std::uint64_t* at = ring::reserve(state.ring, state.ring_bytes, words);
    for (unsigned waited_ms = 0; at == nullptr && when_full == WhenFull::kWait && waited_ms < kMaxWaitMs; ++waited_ms) {
        wake_drain();
        pause_ms(1);
        at = ring::reserve(state.ring, state.ring_bytes, words);
    }
    return at;
}

void write_name(ThreadState& state, std::uint64_t handle, const char* name, std::uint64_t ticks,
                WhenFull when_full) noexcept {
    const std::size_t quarter = state.ring_bytes / 4;
    const std::size_t length = strnlen(name, kMaxNameBytes < quarter ? kMaxNameBytes : quarter);
    // cuDNN and cuBLASLt look a kernel up before each of its launches.
    const std::uint64_t hash = hash_of(name, length);
    const Known* known = find_known(handle);
    const bool is_told = known != nullptr && known->name_hash.load(std::memory_order_relaxed) == hash;
    if (is_told && !repeats.load(std::memory_order_relaxed)) return;
    const std::size_t bytes = sizeof(abi::NameEvent) + (length + 7) / 8 * 8;
    const auto words = static_cast<std::uint32_t>(bytes / 8);
    std::uint64_t* at = reserve(state, words, when_full);
    if (at == nullptr) {
        // Not marked as known, so the first launch asks again.
        ring::count_drop(state.ring);
        wake_drain();
        return;
    }
    at[words - 1] = 0;
    const abi::NameEvent event{{static_cast<std::uint16_t>(words), abi::EventType::kName, 0, 0, 0},
                               ticks,
                               handle,
                               static_cast<std::uint32_t>(length),
                               0};
    __builtin_memcpy(at, &event, sizeof event);
    __builtin_memcpy(reinterpret_cast<char*>(at) + sizeof event, name, length);
    ring::commit(state.ring, at);
    if (ring::should_wake(state.ring, state.ring_bytes, words)) wake_drain();
    mark_known(handle, hash);
}

/// The driver's own name for a function, or for a kernel that is used as one: it tells them apart. nullptr: it has none to give.
const char* ask_driver(std::uint64_t function) noexcept {
    const DriverApi& api = driver_api();
    const char* name = nullptr;
    if (api.func_get_name != nullptr &&
        api.func_get_name(&name, reinterpret_cast<CUfunction>(function)) == CUDA_SUCCESS) {
        return name;
    }
    if (api.kernel_get_name != nullptr &&
        api.kernel_get_name(&name, reinterpret_cast<CUkernel>(function)) == CUDA_SUCCESS) {
        return name;
    }
    return nullptr;
}

}  // namespace

void remember_name(std::uint64_t handle, const char* name) noexcept {
    ThreadState* state = enter_recording();
    const ring::ErrnoGuard keep_errno;
    const SignalsHeld no_signals;
    const InsideGpuspy inside;
    if (state != nullptr) write_name(*state, handle, name, ring::ticks(), WhenFull::kWait);
}

void copy_name(std::uint64_t kernel, std::uint64_t copy) noexcept {
    ThreadState* state = enter_recording();
    const auto get_name = driver_api().kernel_get_name;
    if (state == nullptr || get_name == nullptr) return;
    const ring::ErrnoGuard keep_errno;
    const SignalsHeld no_signals;
    const InsideGpuspy inside;
    const char* name = nullptr;
    if (get_name(&name, reinterpret_cast<CUkernel>(kernel)) == CUDA_SUCCESS && name != nullptr) {
        write_name(*state, copy, name, ring::ticks(), WhenFull::kWait);
    }
}

bool is_name_known(std::uint64_t handle) noexcept {
    return find_known(handle) != nullptr;
}

void learn_name(std::uint64_t function, std::uint64_t since_ticks) noexcept {
    ThreadState* state = current_thread();
    if (state == nullptr || function == 0) return;
    const SignalsHeld no_signals;
    const InsideGpuspy inside;
    if (const char* name = ask_driver(function)) {
        write_name(*state, function, name, since_ticks, WhenFull::kGiveUp);
    } else {
        mark_known(function, 0);  // do not ask at every launch
    }
}

void repeat_names() noexcept {
    repeats.store(true, std::memory_order_relaxed);
}

void forget_names() noexcept {
    auto* table = known_handles.load(std::memory_order_acquire);
    if (table == nullptr) return;
    const ring::ErrnoGuard keep_errno;
    // Anonymous pages that are given back read as zero.
    if (madvise(table, kHandleBytes, MADV_DONTNEED) == 0) return;
    for (std::size_t i = 0; i < kHandleCount; ++i) table[i].handle.store(0, std::memory_order_relaxed);
}

}  // namespace gpuspy::hook

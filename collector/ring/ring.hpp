// A ring of events: one writer (its thread), one reader (the drain thread, or a salvager once the owner is dead).
//
// The writer owns `head`, the reader owns `tail`; both count bytes for ever and are masked into the data, which follows
// the RingHeader. An event never wraps: the rest of the ring up to its end becomes a kPadding event. A writer that is
// interrupted by a signal between reserve() and commit() must not reserve again on the same ring: the caller's guard
// against re-entry keeps that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/event.hpp"
#include "collector/abi/ring_layout.hpp"

namespace gpuspy::ring {

inline constexpr std::uint32_t kWordBytes = 8;
inline constexpr std::uint32_t kMaxEventWords = 0xffff;

inline std::uint64_t* data(abi::RingHeader* ring) noexcept {
    return reinterpret_cast<std::uint64_t*>(ring + 1);
}
inline const std::uint64_t* data(const abi::RingHeader* ring) noexcept {
    return reinterpret_cast<const std::uint64_t*>(ring + 1);
}

// -- writer
// ------------------------------------------------------------------------------------------------------------

/// Room for `words` contiguous words, or nullptr when the ring is too full (the caller counts it: count_drop).
/// `words` is 1 to kMaxEventWords; `ring_bytes` is a power of two.
inline std::uint64_t* reserve(abi::RingHeader* ring, std::uint64_t ring_bytes, std::uint32_t words) noexcept {
    const std::uint64_t head = ring->head.load(std::memory_order_relaxed);
    // Pairs with the reader's release in consume(): what lies below tail has been read and may be overwritten.
    const std::uint64_t tail = ring->tail.load(std::memory_order_acquire);
    const std::uint64_t offset = head & (ring_bytes - 1);
    const std::uint64_t to_end = ring_bytes - offset;
    const std::uint64_t need = std::uint64_t{words} * kWordBytes;
    const std::uint64_t free = ring_bytes - (head - tail);
    std::uint64_t* at = data(ring) + offset / kWordBytes;
    if (need <= to_end) {
        return need <= free ? at : nullptr;
    }
    if (need > ring_bytes || to_end + need > free) {
        return nullptr;
    }
    // to_end < need <= kMaxEventWords words, so it fits into the header's 16 bits.
    auto* padding = reinterpret_cast<abi::EventHeader*>(at);
    *padding = {static_cast<std::uint16_t>(to_end / kWordBytes), abi::EventType::kPadding, 0, 0, 0};
    ring->head.store(head + to_end, std::memory_order_release);
    return data(ring);
}

/// Publishes the event of `words` words, perhaps fewer than were reserved, that stands at the head.
inline void publish(abi::RingHeader* ring, std::uint32_t words) noexcept {
    const std::uint64_t head = ring->head.load(std::memory_order_relaxed);
    // Pairs with the reader's acquire of head: publishes the event's words.
    ring->head.store(head + std::uint64_t{words} * kWordBytes, std::memory_order_release);
}

/// The same, of a CallEvent, which is counted.
inline void commit_call(abi::RingHeader* ring, std::uint32_t words) noexcept {
    ring->recorded.store(ring->recorded.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    publish(ring, words);
}

/// Publishes the event at `event`, which reserve() returned. Its header's `words` may be fewer than were reserved.
inline void commit(abi::RingHeader* ring, const std::uint64_t* event) noexcept {
    const auto* header = reinterpret_cast<const abi::EventHeader*>(event);
    if (header->type == abi::EventType::kCall) {
        commit_call(ring, header->words);
    } else {
        publish(ring, header->words);
    }
}

/// An event found no room. Or a signal handler's found its thread writing one, perhaps counting this: hence one operation.
inline void count_drop(abi::RingHeader* ring) noexcept {
    ring->dropped.fetch_add(1, std::memory_order_relaxed);
}

/// Bytes written and not yet consumed.
inline std::uint64_t fill_bytes(const abi::RingHeader* ring) noexcept {
    const std::uint64_t tail = ring->tail.load(std::memory_order_relaxed);
    return ring->head.load(std::memory_order_acquire) - tail;
}

/// Whether the event of `words` words just committed took the ring over a quarter boundary while half of it or more is
/// full: true at most four times in a turn of the ring, so the system call that wakes the drain thread (Drain::wake) is
/// rare.
inline bool should_wake(const abi::RingHeader* ring, std::uint64_t ring_bytes, std::uint32_t words) noexcept {
    const std::uint64_t quarter = ring_bytes / 4;
    const std::uint64_t head = ring->head.load(std::memory_order_relaxed);
    const std::uint64_t before = head - std::uint64_t{words} * kWordBytes;
    return ((head ^ before) & ~(quarter - 1)) != 0 && fill_bytes(ring) >= ring_bytes / 2;
}

// -- reader
// ------------------------------------------------------------------------------------------------------------

/// Why a walk ended.
enum class WalkEnd : std::uint8_t {
    kLimit,    ///< Everything up to the limit was seen.
    kStopped,  ///< The visitor returned false; the event it refused was not consumed.
    kCorrupt,  ///< The content makes no sense from here on.
};

struct Walk {
    WalkEnd end;
    std::uint64_t position;  ///< First byte not consumed.
};

/// Size of an event's fixed part in words; 0 for a type that this version does not know.
constexpr std::uint32_t minimum_words(abi::EventType type) noexcept {
    switch (type) {
        case abi::EventType::kPadding:
            return 1;
        case abi::EventType::kCall:
            return sizeof(abi::CallEvent) / kWordBytes;
        case abi::EventType::kName:
            return sizeof(abi::NameEvent) / kWordBytes;
        case abi::EventType::kGraphExec:
            return sizeof(abi::GraphExecEvent) / kWordBytes;
        case abi::EventType::kGraphNodes:
            return sizeof(abi::GraphNodesEvent) / kWordBytes;
        case abi::EventType::kThread:
            return sizeof(abi::ThreadEvent) / kWordBytes;
        case abi::EventType::kRange:
            return sizeof(abi::RangeEvent) / kWordBytes;
    }
    return 0;
}

/// Words that a CallEvent with these flags takes, its parts included.
constexpr std::uint32_t call_words(std::uint32_t flags) noexcept {
    const auto part = [flags](abi::CallFlags flag, std::size_t size) { return (flags & flag) != 0 ? size : 0; };
    const std::size_t bytes =
        sizeof(abi::CallEvent) + part(abi::kCallStream, sizeof(abi::StreamPart)) +
        part(abi::kCallCorrelation, sizeof(abi::CorrelationPart)) +
        part(abi::kCallLaunchId, sizeof(abi::LaunchIdPart)) + part(abi::kCallKernel, sizeof(abi::KernelPart)) +
        part(abi::kCallCopy, sizeof(abi::CopyPart)) + part(abi::kCallGraph, sizeof(abi::GraphPart)) +
        part(abi::kCallArguments, sizeof(abi::ArgumentsPart));
    return static_cast<std::uint32_t>(bytes / kWordBytes);
}

/// Words that follow the ArgumentsPart, the last part of a call that has one.
inline std::uint64_t argument_words(const abi::CallEvent* call) noexcept {
    if ((call->flags & abi::kCallArguments) == 0) return 0;
    return reinterpret_cast<const std::uint64_t*>(call)[call_words(call->flags) - 1];
}

/// Whether an event's own sizes agree: what it says it holds fits into its words.
inline bool event_is_sound(const abi::EventHeader* header) noexcept {
    const std::uint32_t fixed = minimum_words(header->type);
    if (fixed == 0 || header->words < fixed) {
        return false;
    }
    const std::uint64_t extra = std::uint64_t{header->words - fixed} * kWordBytes;
    switch (header->type) {
        case abi::EventType::kCall:
            if (const auto* call = reinterpret_cast<const abi::CallEvent*>(header);
                call_words(call->flags) <= header->words) {
                const std::uint64_t arguments = argument_words(call);
                return arguments <= abi::kMaxArgumentWords && call_words(call->flags) + arguments <= header->words;
            }
            return false;
        case abi::EventType::kName:
            return reinterpret_cast<const abi::NameEvent*>(header)->name_bytes <= extra;
        case abi::EventType::kRange: {
            const auto* range = reinterpret_cast<const abi::RangeEvent*>(header);
            return std::uint64_t{range->domain_bytes} + range->text_bytes <= extra;
        }
        case abi::EventType::kGraphNodes:
            return reinterpret_cast<const abi::GraphNodesEvent*>(header)->count *
                       std::uint64_t{sizeof(abi::GraphNode)} <=
                   extra;
        default:
            return true;
    }
}

/// Calls `visit(const abi::EventHeader*, std::uint64_t position) -> bool` for each event (padding left out) in
/// [position, limit). Distrusts the content: an event that is empty, of no known type, larger than the rest, or that
/// would wrap ends the walk as kCorrupt.
template <class Visitor>
Walk walk(const abi::RingHeader* ring, std::uint64_t ring_bytes, std::uint64_t position, std::uint64_t limit,
          Visitor&& visit) noexcept {
    if (limit - position > ring_bytes || (position | limit) % kWordBytes != 0) {
        return {WalkEnd::kCorrupt, position};
    }
    while (position != limit) {
        const std::uint64_t offset = position & (ring_bytes - 1);
        const auto* header = reinterpret_cast<const abi::EventHeader*>(data(ring) + offset / kWordBytes);
        const std::uint64_t bytes = std::uint64_t{header->words} * kWordBytes;
        if (bytes == 0 || bytes > limit - position || bytes > ring_bytes - offset || !event_is_sound(header)) {
            return {WalkEnd::kCorrupt, position};
        }
        if (header->type != abi::EventType::kPadding && !visit(header, position)) {
            return {WalkEnd::kStopped, position};
        }
        position += bytes;
    }
    return {WalkEnd::kLimit, position};
}

/// The reader's view of what is written. Pairs with the writer's release in commit().
inline std::uint64_t written(const abi::RingHeader* ring) noexcept {
    return ring->head.load(std::memory_order_acquire);
}

/// Gives the space below `position` back to the writer. Pairs with the writer's acquire in reserve().
inline void consume(abi::RingHeader* ring, std::uint64_t position) noexcept {
    ring->tail.store(position, std::memory_order_release);
}

}  // namespace gpuspy::ring

// Which ranges are open: what a host is told of levels, and what is written when a recording begins inside of ranges.
//
// Before a process uses CUDA nothing is recorded, yet a program's outermost ranges begin there. So each thread keeps its
// open pushes, and the process its open starts, within bounds; they are written, with the times at which they began, when
// their thread gets its ring (starts: when the first thread does).
#pragma once

#include <cstdint>

#include "interpose/nvtx/handles.hpp"

namespace gpuspy::hook::nvtx {

struct OpenPush {
    std::uint64_t begin_ticks;
    std::uint32_t level;
    std::uint16_t domain;  ///< Domain::index
    std::uint16_t text_bytes;
    std::uint32_t text_offset;  ///< In OpenPushes::text.
    std::uint32_t reserved;
};

/// Of a thread; in our own memory, reused by other threads after its end. Deeper pushes are counted and not kept, and texts
/// only as far as there is room: that matters where a recording begins inside of them.
struct OpenPushes {
    static constexpr std::uint32_t kMaxKept = 64;
    static constexpr std::uint32_t kTextBytes = 5 << 10;

    /// Not nullptr: the frame that is changing this, which a signal handler must not do meanwhile.
    const void* writer;
    OpenPushes* next_free;
    std::uint32_t count;                ///< Of `kept`.
    std::uint32_t levels[kMaxDomains];  ///< By domain: pushes that are open.
    OpenPush kept[kMaxKept];
    char text[kTextBytes];

    /// Returns the push's level.
    std::uint32_t push(std::uint64_t ticks, const Domain& domain, const char* text, std::size_t bytes) noexcept;
    /// Returns the level of the push that ends; -1: none is open.
    std::int64_t pop(const Domain& domain) noexcept;
};

/// The calling thread's; nullptr: no memory. Its first call maps it (set-up).
OpenPushes* open_pushes() noexcept;

/// The same, nullptr where the thread has none yet.
const OpenPushes* known_open_pushes() noexcept;

struct OpenStart {
    std::uint64_t id;
    std::uint64_t begin_ticks;
    const Domain* domain;
    std::uint32_t text_bytes;
    char text[96];
};

/// Unique in the process and in its forked children; never 0.
std::uint64_t next_range_id() noexcept;
/// Remembers a start, where there is room.
void keep_start(std::uint64_t id, std::uint64_t ticks, const Domain& domain, const char* text,
                std::size_t bytes) noexcept;
void forget_start(std::uint64_t id) noexcept;
/// In a forked child, by a handler of pthread_atfork, so before it has another thread: what other threads of the parent were about to remember.
void forget_half_made_starts() noexcept;
/// Calls visit(context, start) for each start that is kept.
void for_each_open_start(void (*visit)(void* context, const OpenStart& start) noexcept, void* context) noexcept;

}  // namespace gpuspy::hook::nvtx

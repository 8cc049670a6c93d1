// Activity buffers: a fixed pool that CUPTI fills and the drain thread empties.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuspy::hook {

inline constexpr std::size_t kActivityBufferBytes = std::size_t{1} << 20;
inline constexpr std::size_t kActivityBufferCount = 64;

/// Maps the pool (64 MiB of address space, touched as CUPTI writes). False: no memory.
bool make_activity_buffers() noexcept;

/// A buffer for CUPTI to fill; any thread, lock-free. When none is free: a scratch buffer, whose records are lost and counted
/// (a null answer makes CUPTI before 12.9 crash the host).
std::uint8_t* take_activity_buffer() noexcept;

/// What stands in a buffer that is given back.
struct Filled {
    std::size_t bytes;
    bool is_read;           ///< ActivityRecord (records.hpp), one after the other; else CUPTI's records.
    std::uint32_t clock;    ///< Of their times: host_clock.hpp.
    std::uint32_t records;  ///< is_read: how many there are.
};

/// The buffer comes back, from CUPTI or from whom it was taken by; any thread, lock-free.
void give_activity_buffer(std::uint8_t* buffer, const Filled& filled) noexcept;

/// Whether it is one of the pool (the scratch buffer too), or somebody else's.
bool is_activity_buffer(const std::uint8_t* buffer) noexcept;
bool is_scratch_buffer(const std::uint8_t* buffer) noexcept;

/// Drain thread: visits the buffers that were given back, in that order, and frees each after its visit.
void visit_activity_buffers(void (*visit)(void* context, std::uint8_t* buffer, const Filled& filled) noexcept,
                            void* context) noexcept;

/// Buffers are given to CUPTI zeroed from now on: the host told it that they are.
void zero_activity_buffers() noexcept;

/// In a forked child: the parent's records are the parent's.
void forget_activity_buffers() noexcept;

/// Buffers that CUPTI holds now.
std::uint32_t activity_buffers_in_flight() noexcept;

}  // namespace gpuspy::hook

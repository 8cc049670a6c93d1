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

/// CUPTI gives a buffer back with `valid_bytes` of records; any thread, lock-free.
void give_activity_buffer(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;

/// Drain thread: visits the buffers that were given back, in that order, and frees each after its visit.
void visit_activity_buffers(void (*visit)(void* context, std::uint8_t* buffer, std::size_t valid_bytes) noexcept,
                            void* context) noexcept;

/// Buffers that CUPTI holds now.
std::uint32_t activity_buffers_in_flight() noexcept;

}  // namespace gpuspy::hook

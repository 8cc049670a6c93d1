// Buffers of the host's that came back in a flush of ours, until the host flushes: it expects none before, may hold a lock that its callback
// takes, or be gone already when ours is the last flush.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/table/cuda_headers.hpp"

namespace gpuspy::hook {

/// A buffer of the host's that CUPTI gave back.
struct FullBuffer {
    CUcontext context;
    std::uint32_t stream;
    std::uint8_t* buffer;
    std::size_t bytes;
    std::size_t valid_bytes;
};

/// False: there is no room for one more.
bool withhold(const FullBuffer& full) noexcept;
/// Calls hand_on(full) for each, and forgets it.
void hand_on_withheld(void (*hand_on)(const FullBuffer& full) noexcept) noexcept;
/// CUPTI was finalised, or this is a forked child.
void forget_withheld() noexcept;

}  // namespace gpuspy::hook

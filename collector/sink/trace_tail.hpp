// The end of a trace that someone else wrote: where the last whole block ends and what its numbers are.
#pragma once

#include <cstdint>

namespace gpuspy::sink {

struct TraceTail {
    std::uint64_t bytes = 0;         ///< End of the last whole block, or of the header.
    std::uint32_t next_segment = 0;  ///< Number for a segment that is appended.
    std::uint64_t ticks = 0;         ///< Of the last block; 0 without one.
    std::uint64_t first_ticks = 0;   ///< Of the first one.
    std::uint64_t blocks = 0;
};

/// Follows the blocks from `header_bytes` by their headers (checksums are not looked at), up to `limit` bytes of the
/// file.
TraceTail find_trace_tail(int fd, std::uint64_t header_bytes, std::uint64_t limit) noexcept;

/// Opens a trace for appending: regular, ours, not a link, of this major version, and not held by another process;
/// locked then. Returns the descriptor, or -1 and an errno value in `error` (EAGAIN: held).
struct TraceIdentity;
int open_trace_for_append(const char* path, TraceIdentity* identity, std::uint64_t* file_bytes, int* error) noexcept;

}  // namespace gpuspy::sink

// FileHeader and its header records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/sink/records.hpp"

namespace gpuspy::sink {

inline constexpr std::size_t kMaxFileHeaderBytes = 256U << 10;

/// Writes FileHeader and kProcess to `out`. A string is cut at 4 KiB; arguments beyond 128 KiB in all, and environment
/// strings beyond 64 KiB, are left out. Returns the bytes written; 0 if `capacity` is under kMaxFileHeaderBytes.
std::size_t encode_file_header(std::uint8_t* out, std::size_t capacity, std::uint64_t nonce, std::uint64_t start_ticks,
                               const ProcessInfo& process) noexcept;

/// Another `exchange` number in bytes of encode_file_header().
void set_exchange(std::uint8_t* header, std::size_t count, std::uint64_t exchange) noexcept;
/// Another nonce likewise, and kFeatureSnapshot: a copy is not the recording, no ring belongs to it, and no end of the process.
void mark_as_snapshot(std::uint8_t* header, std::size_t count, std::uint64_t nonce) noexcept;

/// Likewise the error of the first write that failed (kFeatureWriteErrorMask).
void set_write_error(std::uint8_t* header, std::size_t count, int error) noexcept;

/// What another process needs to know of a trace before it touches it.
struct TraceIdentity {
    std::uint64_t nonce = 0;
    std::uint64_t exchange = 0;
    std::uint32_t header_bytes = 0;
    std::uint64_t pid = 0;
    std::uint64_t tick_hz = 0;  ///< 0: not known.
    std::uint64_t run_id = 0;
    bool is_snapshot = false;  ///< kFeatureSnapshot.
};

/// Reads the beginning of a file. False: not a trace of this major version.
bool read_trace_identity(int fd, TraceIdentity* identity) noexcept;

}  // namespace gpuspy::sink

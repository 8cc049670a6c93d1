// FileHeader and its header records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/sink/records.hpp"

namespace gpuspy::sink {

inline constexpr std::size_t kMaxFileHeaderBytes = 256U << 10;

/// Writes FileHeader and kProcess to `out`. Long strings are cut and, when `capacity` (kMaxFileHeaderBytes is always enough for
/// what is kept) runs out, the last arguments and environment strings are left out. Returns the bytes written, 0 if
/// `capacity` is under 4 KiB.
std::size_t encode_file_header(std::uint8_t* out, std::size_t capacity, std::uint64_t nonce, std::uint64_t start_ticks,
                               const ProcessInfo& process) noexcept;

}  // namespace gpuspy::sink

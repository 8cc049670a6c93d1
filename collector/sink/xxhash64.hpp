// The checksum of headers and blocks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuspy::sink {

/// XXH64, seed 0.
std::uint64_t xxhash64(const void* bytes, std::size_t count) noexcept;

}  // namespace gpuspy::sink

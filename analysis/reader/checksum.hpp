// XXH64 with seed 0 over one or two pieces.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuspy::analysis {

std::uint64_t checksum_of(std::string_view first, std::string_view second);

}  // namespace gpuspy::analysis

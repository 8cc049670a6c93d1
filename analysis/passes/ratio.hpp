#pragma once

#include <cstdint>

namespace gpuspy::analysis {

/// 0 where there is nothing to divide by.
inline double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace gpuspy::analysis

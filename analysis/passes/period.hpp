// The period of a sequence that repeats, mostly: a training step's launches, an inference's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gpuspy::analysis {

struct Period {
    std::size_t length = 0;  ///< In symbols; 0: the sequence does not repeat.
    double agreement =
        0;  ///< Of the later three quarters: the share of symbols that come again `length` symbols later.
};

/// The shortest period with which the sequence agrees about as well as with any. What comes before a program's loop and its
/// first rounds differ, so the first quarter (by `weights`, one for each symbol, none 0) has no say. Takes time in
/// proportion to the sequence's length.
Period find_period(std::span<const std::uint32_t> symbols, std::span<const std::uint32_t> weights);

/// Where rounds begin: the places where what stands at `first` is found again; `first` is at least a period from the end. A
/// last round of less than 95 % of a period is left out.
std::vector<std::size_t> find_rounds(std::span<const std::uint32_t> symbols, const Period& period, std::size_t first);

}  // namespace gpuspy::analysis

// Takes the records of a block's payload apart into columns (collector/abi/trace_columns.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/trace_columns.hpp"

namespace gpuspy::sink {

/// What the sizes of the columns can take, beyond the payload.
inline constexpr std::size_t kColumnSizesBytes = abi::kColumnCount * 5;

/// Memory for the work, of the caller's.
struct ColumnScratch {
    std::uint32_t place[abi::kColumnCount];  ///< Sizes first, then where the next byte of each goes.
    std::uint8_t slot_of_api[4096];          ///< Numbers of APIs, or that one has not appeared.
    std::uint32_t slots;
};

/// Ends of the parts that are best compressed each by itself: the last is the size of all.
struct ColumnParts {
    std::size_t end[3];
};

/// `out` has room for `bytes` + kColumnSizesBytes. False: it has records that cannot be taken apart; it stays as it is.
bool take_apart(const std::uint8_t* payload, std::size_t bytes, std::uint8_t* out, ColumnScratch& scratch,
                ColumnParts& parts) noexcept;

}  // namespace gpuspy::sink

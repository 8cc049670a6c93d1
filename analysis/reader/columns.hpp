// A block's payload out of its columns (collector/abi/trace_columns.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpuspy::analysis {

/// What a payload can take more in columns than as records: the sizes of the columns.
std::size_t column_sizes_bytes();

/// Puts the records of a payload together again, into `records`. False: the columns are not those of a payload of `raw_bytes`.
bool put_together(std::string_view columns, std::size_t raw_bytes, std::string& records);

}  // namespace gpuspy::analysis

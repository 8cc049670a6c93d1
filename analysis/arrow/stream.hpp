// A table as an Arrow C stream.
#pragma once

#include <cstddef>

#include "analysis/arrow/c_data.hpp"
#include "analysis/arrow/column_table.hpp"

namespace gpuspy::analysis {

/// A batch ends with the row that reaches one of them.
struct BatchLimits {
    std::size_t rows = 65'536;
    std::size_t text_bytes = std::size_t{16} << 20;  ///< Of one column.
};

/// Fills `out`, which the caller releases. What the stream gives out stands on its own: it may be released in any order,
/// from any thread. Text that is not UTF-8 is made so.
void make_stream(ColumnTable table, ArrowArrayStream& out, const BatchLimits& limits = {});

}  // namespace gpuspy::analysis

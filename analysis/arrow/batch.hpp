// Rows of a table as an Arrow array.
#pragma once

#include <cstddef>

#include "analysis/arrow/c_data.hpp"
#include "analysis/arrow/stream.hpp"

namespace gpuspy::analysis {

/// A struct array with the rows from `from` on, as many as `limits` allow, at least one of those that are left. Returns how
/// many. Throws what cells throw and std::bad_alloc, and then leaves `out`.
std::size_t make_batch(const ColumnTable& table, std::size_t from, const BatchLimits& limits, ArrowArray& out);

}  // namespace gpuspy::analysis

// The columns of a table as an Arrow schema.
#pragma once

#include "analysis/arrow/c_data.hpp"
#include "analysis/arrow/column_table.hpp"

namespace gpuspy::analysis {

/// A struct with a child for each column, whose metadata has its "unit". Throws std::bad_alloc, and then leaves `out`.
void make_schema(const ColumnTable& table, ArrowSchema& out);

}  // namespace gpuspy::analysis

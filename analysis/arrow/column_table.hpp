// A table whose cells are made when they are asked for, row by row: what an Arrow stream is made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/table/table.hpp"

namespace gpuspy::analysis {

enum class ArrowType : std::uint8_t {
    kInt64,
    kUint64,  ///< Addresses and handles: all 64 bits.
    kFloat64,
    kBool,  ///< From a cell that holds 0 or 1.
    kUtf8,
};

struct ArrowColumn {
    std::string name;
    ArrowType type = ArrowType::kInt64;
    std::string unit;                            ///< As Unit's names; empty for what has none.
    std::function<Cell(std::size_t row)> value;  ///< monostate is null.
};

struct ColumnTable {
    std::vector<ArrowColumn> columns;
    std::size_t rows = 0;
};

/// A view's table. A column of whole numbers becomes one of floating-point numbers where a cell of it has a fraction.
ColumnTable to_columns(std::shared_ptr<const Table> table);

}  // namespace gpuspy::analysis

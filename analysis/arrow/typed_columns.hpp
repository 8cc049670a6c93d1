// Columns of a table whose rows are `Row`s that lie in a vector somewhere.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/arrow/column_table.hpp"
#include "analysis/model/timeline.hpp"

namespace gpuspy::analysis {

template <class Row>
struct TypedColumn {
    const char* name;
    ArrowType type;
    const char* unit;
    std::function<Cell(const Row&)> value;
};

template <class Row>
using TypedColumns = std::vector<TypedColumn<Row>>;

/// `row_at` gives the row of a number, and keeps alive what it lies in.
template <class Row, class RowAt>
ColumnTable typed_table(const TypedColumns<Row>& columns, std::size_t rows, RowAt row_at) {
    ColumnTable table;
    table.rows = rows;
    for (const TypedColumn<Row>& column : columns) {
        table.columns.push_back({column.name, column.type, column.unit,
                                 [row_at, value = column.value](std::size_t row) { return value(row_at(row)); }});
    }
    return table;
}

template <class Row>
TypedColumns<Row> operator+(TypedColumns<Row> columns, const TypedColumns<Row>& behind) {
    columns.insert(columns.end(), behind.begin(), behind.end());
    return columns;
}

/// A link of the timeline: the number of a row; null for none.
inline Cell link(std::uint32_t position) {
    return position == kNone ? Cell{} : Cell{std::uint64_t{position}};
}

/// Null where a property was not recorded.
inline Cell if_known(bool known, Cell value) {
    return known ? std::move(value) : Cell{};
}

}  // namespace gpuspy::analysis

#include "analysis/arrow/column_table.hpp"

#include <algorithm>
#include <utility>

namespace gpuspy::analysis {
namespace {

bool has_fractions(const Table& table, std::size_t column) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [column](const std::vector<Cell>& row) { return std::holds_alternative<double>(row[column]); });
}

ArrowType type_of(const Table& table, std::size_t column) {
    switch (table.columns[column].unit) {
        case Unit::kText:
        case Unit::kName:
            return ArrowType::kUtf8;
        case Unit::kShare:
        case Unit::kNumber:
        case Unit::kGigabytesPerS:
        case Unit::kFlops:
        case Unit::kFlopsPerS:
            return ArrowType::kFloat64;
        case Unit::kCount:
        case Unit::kDurationNs:
        case Unit::kMomentNs:
        case Unit::kBytes:
            break;
    }
    return has_fractions(table, column) ? ArrowType::kFloat64 : ArrowType::kInt64;
}

}  // namespace

ColumnTable to_columns(std::shared_ptr<const Table> table) {
    ColumnTable result;
    result.rows = table->rows.size();
    for (std::size_t column = 0; column < table->columns.size(); ++column) {
        result.columns.push_back({table->columns[column].name, type_of(*table, column),
                                  std::string(unit_name(table->columns[column].unit)),
                                  [table, column](std::size_t row) { return table->rows[row][column]; }});
    }
    return result;
}

}  // namespace gpuspy::analysis

// What a trace recorded, row by row: the tables that programs get besides the views.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "analysis/arrow/column_table.hpp"
#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

struct RowTable {
    const char* name;
    const char* about;                                        ///< One line: what a row is.
    ColumnTable (*make)(std::shared_ptr<const Model> model);  ///< The model has a timeline, and lives on in the table.
};

std::span<const RowTable> row_tables();
/// nullptr if there is none of this name.
const RowTable* find_row_table(std::string_view name);

// One or a few a file. Times are ns since the beginning of the recording; docs/python.md says what the columns are.
ColumnTable calls_rows(std::shared_ptr<const Model> model);
ColumnTable copies_rows(std::shared_ptr<const Model> model);
ColumnTable devices_rows(std::shared_ptr<const Model> model);
ColumnTable kernels_rows(std::shared_ptr<const Model> model);
ColumnTable launches_rows(std::shared_ptr<const Model> model);
ColumnTable processes_rows(std::shared_ptr<const Model> model);
ColumnTable ranges_rows(std::shared_ptr<const Model> model);
ColumnTable sets_rows(std::shared_ptr<const Model> model);
ColumnTable threads_rows(std::shared_ptr<const Model> model);

}  // namespace gpuspy::analysis

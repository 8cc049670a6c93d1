// Tables for programs: CSV and JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/table/table.hpp"

namespace gpuspy::analysis {

/// The tables of one view.
struct ViewTables {
    std::string view;
    std::vector<Table> tables;
};

/// RFC 4180 but for the line's end, which is "\n"; a head, then a row for each row. What is not known is empty.
std::string render_csv(const Table& table);

/// {"schema": .., "views": {view: {table: {"title", "remark", "columns": [{"name", "unit"}], "rows": [{..}], "notes"}}}}:
/// docs/report-views.md. What is not known is null.
std::string render_views_json(std::span<const ViewTables> views);

}  // namespace gpuspy::analysis

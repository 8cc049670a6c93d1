// A table for a person.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/table/table.hpp"

namespace gpuspy::analysis {

struct TextTableOptions {
    std::size_t top = 20;       ///< Rows; 0: all.
    std::size_t columns = 100;  ///< Of the line; 0: as many as are needed.
    bool colour = false;
};

/// The title, a head, the rows, and what is to be said beneath them; "" for a table without rows and notes.
std::string render_table_text(const Table& table, const TextTableOptions& options);

/// A cell as it stands in the text report.
std::string cell_text(const Cell& cell, Unit unit);

}  // namespace gpuspy::analysis

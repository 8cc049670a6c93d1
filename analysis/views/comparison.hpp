// A comparison as tables. docs/comparing.md describes them.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/passes/compare.hpp"
#include "analysis/table/table.hpp"

namespace gpuspy::analysis {

struct ComparisonTableOptions {
    bool best = false;   ///< Who is best in each measure.
    bool curve = false;  ///< Images a second, trace by trace.
    /// For a person: as many traces side by side as a line of this many columns holds (0: all), more in tables of their own;
    /// bars in the curve. Else one table of all.
    bool for_text = false;
    std::size_t columns = 100;
};

/// `traces`, `measures`, `spread` (where there are several runs of a trace), `curve`, `kernels`, `calls`.
std::vector<Table> comparison_tables(const Comparison& comparison, const ComparisonTableOptions& options);

}  // namespace gpuspy::analysis

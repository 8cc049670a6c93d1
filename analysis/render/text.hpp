// The report for a person: readable at 100 columns.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/passes/findings.hpp"

namespace gpuspy::analysis {

struct TextOptions {
    std::size_t top = 20;  ///< Rows of a table; 0: all.
};

std::string render_text(const Findings& findings, const std::string& trace_path, const TextOptions& options);

}  // namespace gpuspy::analysis

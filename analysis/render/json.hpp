// The report for programs: docs/report-json.md is its schema.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/passes/findings.hpp"

namespace gpuspy::analysis {

inline constexpr int kJsonSchema = 1;

struct JsonOptions {
    std::size_t top = 0;  ///< Rows of `kernels`, `calls` and other tables; 0: all.
};

/// One JSON object and a newline. Strings that are not UTF-8 have U+FFFD in place of what is not.
std::string render_json(const Findings& findings, const JsonOptions& options);

}  // namespace gpuspy::analysis

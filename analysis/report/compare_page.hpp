// `gpuspy-report compare --format html`: a comparison as a page.
#pragma once

#include <string>
#include <vector>

#include "analysis/passes/compare.hpp"
#include "analysis/render/kernel_name.hpp"
#include "analysis/report/compare_request.hpp"
#include "analysis/table/table.hpp"

namespace gpuspy::report {

/// `tables`: comparison_tables(). `names`: how they name kernels.
std::string comparison_page(const analysis::Comparison& comparison, std::vector<analysis::Table> tables,
                            analysis::NameForm names, const CompareArguments& arguments);

}  // namespace gpuspy::report

// `gpuspy-report --format html`: the summary, the timeline and views of one trace as a page.
#pragma once

#include <string>
#include <vector>

#include "analysis/render/table_data.hpp"
#include "analysis/report/view_command.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::report {

std::string page_of(const analysis::ViewInput& input, const std::vector<analysis::ViewTables>& views,
                    const ViewArguments& arguments, const ViewOutput& output);

}  // namespace gpuspy::report

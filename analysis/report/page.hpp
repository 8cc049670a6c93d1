// `gpuspy-report --format html`: the summary, the timeline and views of one trace as a page.
#pragma once

#include <string>
#include <vector>

#include "analysis/render/table_data.hpp"
#include "analysis/report/view_command.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::report {

inline constexpr const char* kPageOnTerminal =
    "a page is not for a terminal: say -o report.html, or send it into a file or pipe";

/// So that the page of a long run can be opened. `all`: the command that shows every row.
void keep_first(analysis::Table& table, const std::string& all);

std::string page_of(const analysis::ViewInput& input, const std::vector<analysis::ViewTables>& views,
                    const ViewArguments& arguments, const ViewOutput& output);

}  // namespace gpuspy::report

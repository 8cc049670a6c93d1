#include "analysis/report/page.hpp"

#include <fmt/format.h>

#include "analysis/passes/findings.hpp"
#include "analysis/passes/overview.hpp"
#include "analysis/render/html.hpp"
#include "analysis/render/json.hpp"
#include "analysis/render/overview_json.hpp"

namespace gpuspy::report {
void keep_first(analysis::Table& table, const std::string& all) {
    constexpr std::size_t kRows = 1'000;
    if (table.rows.size() <= kRows) {
        return;
    }
    table.notes.push_back(fmt::format("the first {} of {} rows: {} shows all", kRows, table.rows.size(), all));
    table.rows.resize(kRows);
    if (table.has_row_units()) {
        table.row_units.resize(kRows);
    }
}

std::string page_of(const analysis::ViewInput& input, const std::vector<analysis::ViewTables>& views,
                    const ViewArguments& arguments, const ViewOutput& output) {
    analysis::HtmlParts parts;
    parts.title = output.trace_path;
    parts.part = arguments.part.words();
    parts.report = analysis::render_json(analysis::find_all(input.model), {});
    std::vector<analysis::ViewTables> shown = views;
    for (analysis::ViewTables& view : shown) {
        for (analysis::Table& table : view.tables) {
            keep_first(table, fmt::format("gpuspy-report --view {}.{} --top 0", view.view, table.name));
        }
    }
    parts.views = analysis::render_views_json(shown);
    parts.overview =
        analysis::render_overview_json(analysis::overview(input.model, input.timeline), input.options.names);
    parts.top = output.top_given ? output.top : parts.top;
    return analysis::render_html(parts);
}

}  // namespace gpuspy::report

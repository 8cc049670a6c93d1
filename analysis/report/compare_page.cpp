#include "analysis/report/compare_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/render/html.hpp"
#include "analysis/render/overview_json.hpp"
#include "analysis/render/table_data.hpp"
#include "analysis/report/page.hpp"

namespace gpuspy::report {
namespace {

std::string title_of(const std::vector<std::string>& labels) {
    constexpr std::size_t kNamed = 4;
    const std::size_t named = std::min(kNamed, labels.size());
    const std::string names =
        fmt::format("{}", fmt::join(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    return named == labels.size() ? names : fmt::format("{} and {} more", names, labels.size() - named);
}

/// The kernels that are in the list of those that differ.
std::vector<std::string> listed_kernels(const analysis::Comparison& comparison, analysis::NameForm names) {
    std::set<std::string> listed;
    for (const analysis::Change& change : comparison.kernels) {
        listed.insert(change.name);
    }
    std::set<std::string> mangled;
    for (const analysis::RunGroup& group : comparison.groups) {
        for (const analysis::TraceFacts& run : group.runs) {
            for (const auto& [name, total] : run.kernels) {
                if (mangled.count(name) == 0 && listed.count(analysis::kernel_name(name, names)) != 0) {
                    mangled.insert(name);
                }
            }
        }
    }
    return {mangled.begin(), mangled.end()};
}

}  // namespace

std::string comparison_page(const analysis::Comparison& comparison, std::vector<analysis::Table> tables,
                            analysis::NameForm names, const CompareArguments& arguments) {
    for (analysis::Table& table : tables) {
        keep_first(table, "gpuspy-report compare --top 0");
    }
    analysis::HtmlParts parts;
    parts.title = title_of(comparison.labels);
    parts.part = arguments.part.words();
    const std::vector<analysis::ViewTables> views = {{"compare", std::move(tables)}};
    parts.views = analysis::render_views_json(views);
    parts.names = analysis::render_names_json(listed_kernels(comparison, names), names);
    parts.top = arguments.top_given->count() != 0 ? arguments.top : parts.top;
    return analysis::render_html(parts);
}

}  // namespace gpuspy::report

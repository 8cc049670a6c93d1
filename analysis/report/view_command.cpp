#include "analysis/report/view_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>

#include "analysis/render/display_text.hpp"
#include "analysis/render/table_data.hpp"
#include "analysis/render/table_text.hpp"
#include "analysis/report/output.hpp"
#include "analysis/report/page.hpp"
#include "analysis/report/terminal.hpp"
#include "analysis/report/trace_file.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::report {
namespace {

using analysis::ExitCode;
using analysis::ViewTables;

/// A view, and the one table of it that is wanted ("" for all).
struct Wanted {
    const analysis::View* view;
    std::string table;
};

std::string view_names() {
    std::vector<std::string> names;
    for (const analysis::View& view : analysis::views()) {
        names.emplace_back(view.name);
    }
    return fmt::format("{}, all", fmt::join(names, ", "));
}

/// What was asked for; or what is wrong with it.
std::optional<std::string> find_wanted(const std::vector<std::string>& names, std::vector<Wanted>& wanted) {
    for (const std::string& name : names) {
        if (name == "all") {
            for (const analysis::View& view : analysis::views()) {
                wanted.push_back({&view, ""});
            }
            continue;
        }
        const std::size_t dot = std::min(name.find('.'), name.size());
        const analysis::View* view = analysis::find_view(name.substr(0, dot));
        if (view == nullptr) {
            return fmt::format("there is no view \"{}\"; there are: {}", analysis::printable(name), view_names());
        }
        wanted.push_back({view, dot == name.size() ? "" : name.substr(dot + 1)});
    }
    return std::nullopt;
}

/// Leaves the one table that was asked for; or says which there are.
std::optional<std::string> keep_table(const Wanted& wanted, std::vector<analysis::Table>& tables) {
    if (wanted.table.empty()) {
        return std::nullopt;
    }
    const auto other = [&](const analysis::Table& table) { return table.name != wanted.table; };
    if (std::all_of(tables.begin(), tables.end(), other)) {
        std::vector<std::string> names;
        for (const analysis::Table& table : tables) {
            names.push_back(fmt::format("{}.{}", wanted.view->name, table.name));
        }
        return fmt::format("there is no table \"{}.{}\"; there are: {}", wanted.view->name,
                           analysis::printable(wanted.table), fmt::join(names, ", "));
    }
    tables.erase(std::remove_if(tables.begin(), tables.end(), other), tables.end());
    tables.front().data_only = false;
    return std::nullopt;
}

std::string as_text(const std::vector<ViewTables>& views, const ViewArguments& arguments, const ViewOutput& output) {
    const Terminal terminal = output.output_path.empty() ? standard_output() : Terminal{};
    analysis::TextTableOptions options;
    options.top = output.top_given ? output.top : options.top;
    options.columns = arguments.wide ? 0 : terminal.columns;
    options.colour = terminal.colour;
    std::string text;
    for (const ViewTables& view : views) {
        for (const analysis::Table& table : view.tables) {
            const std::string lines = table.data_only ? "" : analysis::render_table_text(table, options);
            text += (text.empty() || lines.empty() ? "" : "\n") + lines;
        }
    }
    return text.empty() ? "nothing to show: the trace has none of what was asked for\n" : text;
}

}  // namespace

std::string ViewArguments::given() const {
    for (const auto& [option, is_given] : {std::pair("--view", !views.empty()), std::pair("--names", names != "full"),
                                           std::pair("--by-config", by_config), std::pair("--wide", wide)}) {
        if (is_given) {
            return option;
        }
    }
    return part.first();
}

void add_view_options(CLI::App& app, ViewArguments& arguments) {
    app.add_option("--view", arguments.views,
                   "Views instead of the summary: " + view_names() + "; or one table: VIEW.TABLE")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("--names", arguments.names, "Kernel names in views: full, base (the function alone) or mangled")
        ->check(CLI::IsMember(analysis::name_forms()))
        ->capture_default_str();
    add_selection_options(app, arguments.part, "Views: ");
    app.add_flag("--by-config", arguments.by_config, "View kernels: a row for each grid and block");
    app.add_flag("--wide", arguments.wide, "Views: cut nothing to the width of the line");
}

int show_views(const ViewArguments& arguments, const ViewOutput& output) {
    std::vector<Wanted> wanted;
    analysis::Selection selection;
    std::vector<std::string> asked = arguments.views;
    if (asked.empty()) {
        asked = {"all"};
    }
    for (const auto& fault : {find_wanted(asked, wanted), read_selection(arguments.part, selection)}) {
        if (fault) {
            return fail(*fault, ExitCode::kUsage);
        }
    }
    int status = 0;
    const auto model = load(output.trace_path, WithTimeline::kYes, status);
    if (model == nullptr) {
        return status;
    }
    if (arguments.part.steady) {
        if (const auto fault = select_steady(*model, selection)) {
            return fail(output.trace_path + ": " + *fault, ExitCode::kUsage);
        }
    }
    const analysis::Timeline part =
        selection.everything() ? analysis::Timeline{} : analysis::select(*model, *model->timeline, selection);
    analysis::ViewOptions options;
    options.by_config = arguments.by_config;
    options.names = analysis::find_name_form(arguments.names).value();  // Checked when it was read.
    const analysis::ViewInput input{*model, selection.everything() ? *model->timeline : part, options};

    std::vector<ViewTables> views;
    std::vector<std::string> table_names;
    for (const Wanted& one : wanted) {
        ViewTables view{one.view->name, one.view->tables(input)};
        if (const auto fault = keep_table(one, view.tables)) {
            return fail(*fault, ExitCode::kUsage);
        }
        for (const analysis::Table& table : view.tables) {
            table_names.push_back(fmt::format("{}.{}", view.view, table.name));
        }
        views.push_back(std::move(view));
    }
    std::string text;
    if (output.format == "csv") {
        if (table_names.size() != 1) {
            return fail(fmt::format("--format csv takes one table: --view {}", fmt::join(table_names, ", ")),
                        ExitCode::kUsage);
        }
        for (const ViewTables& view : views) {
            for (const analysis::Table& table : view.tables) {
                text = analysis::render_csv(table);
            }
        }
    } else if (output.format == "json") {
        text = analysis::render_views_json(views);
    } else if (output.format == "html") {
        text = page_of(input, views, arguments, output);
    } else {
        text = as_text(views, arguments, output);
    }
    Output out(output.output_path);
    out.write(text);
    if (const auto fault = out.finish()) {
        return fail(*fault, ExitCode::kNotWritten);
    }
    return model->index.reading.partial() ? partly_readable(output.trace_path, model->index.reading)
                                          : static_cast<int>(ExitCode::kDone);
}

}  // namespace gpuspy::report

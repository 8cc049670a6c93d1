#include "analysis/report/compare_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/passes/compare.hpp"
#include "analysis/passes/condition.hpp"
#include "analysis/passes/part_facts.hpp"
#include "analysis/passes/trace_facts.hpp"
#include "analysis/render/display_text.hpp"
#include "analysis/render/kernel_name.hpp"
#include "analysis/render/table_data.hpp"
#include "analysis/render/table_text.hpp"
#include "analysis/report/compare_page.hpp"
#include "analysis/report/compare_request.hpp"
#include "analysis/report/output.hpp"
#include "analysis/report/page.hpp"
#include "analysis/report/terminal.hpp"
#include "analysis/report/trace_file.hpp"
#include "analysis/views/comparison.hpp"

namespace gpuspy::report {
namespace {

using analysis::ExitCode;

constexpr const char* kFooter =
    "Traces of the same thing are compared by their median: A1.bin,A2.bin B1.bin,B2.bin.\n"
    "Conditions: MEASURE, one of > >= < <=, and a bound: 'gpu_time>+5%' (more than the first trace's and 5 %),\n"
    "'images_per_s<-10%', 'wall>2s', 'sync_time>30%' (of wall time), 'utilisation<80%', 'complete<1'. They judge\n"
    "all traces but the first, or the only one. docs/comparing.md lists the measures.\n"
    "Exit status: as of gpuspy-report; 7: a condition of --fail-if was met, or its measure is not known.";

/// What a part of a time range is called: the words that asked for it, and for the steady state where it was found.
std::string part_words(const CompareArguments& arguments, const analysis::Selection& selection) {
    std::string words = arguments.part.words();
    if (arguments.part.steady) {
        const auto moment = [](std::int64_t ns) {
            return analysis::duration_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns)));
        };
        words += fmt::format(" (from {} to {})", moment(*selection.from_ns), moment(*selection.to_ns));
    }
    return words;
}

/// The totals of what was asked for of a trace; nullopt with `status` if it cannot be read or has no such part.
std::optional<analysis::TraceFacts> read_facts(const std::string& path, const CompareArguments& arguments,
                                               analysis::Selection selection, int& status) {
    const bool whole = arguments.part.words().empty();
    const auto model = load(path, whole ? WithTimeline::kNo : WithTimeline::kYes, status);
    if (model == nullptr) {
        return std::nullopt;
    }
    if (model->index.reading.partial()) {
        partly_readable(path, model->index.reading);
    }
    if (whole) {
        return analysis::trace_facts(*model, analysis::find_totals(*model));
    }
    if (arguments.part.steady) {
        if (const auto fault = select_steady(*model, selection)) {
            status = fail(path + ": " + *fault, ExitCode::kUsage);
            return std::nullopt;
        }
    }
    const analysis::Timeline part = analysis::select(*model, *model->timeline, selection);
    if (part.wall_ns() == 0) {
        status = fail(fmt::format("{}: {}: the recording ends at {}", path, arguments.part.words(),
                                  analysis::duration_text(model->timeline->wall_ns())),
                      ExitCode::kUsage);
        return std::nullopt;
    }
    return analysis::part_facts(*model, part, selection, part_words(arguments, selection));
}

/// Whether nothing of what was asked for ran in any of the traces: a name that is mistyped must not pass for "as before".
bool nothing_selected(const std::vector<analysis::RunGroup>& groups, const SelectionArguments& part) {
    if (part.filter.empty() && part.device.empty() && part.stream.empty()) {
        return false;
    }
    const auto has_none = [](const analysis::TraceFacts& run) {
        return run.device_times && run.value("kernels").value_or(0) == 0 && run.value("gpu_time").value_or(0) == 0;
    };
    return std::all_of(groups.begin(), groups.end(), [&](const analysis::RunGroup& group) {
        return std::all_of(group.runs.begin(), group.runs.end(), has_none);
    });
}

/// The groups, read; nullopt with `status` if one of their traces cannot be. Each trace is forgotten but for its totals.
std::optional<std::vector<analysis::RunGroup>> read_groups(const CompareRequest& request,
                                                           const CompareArguments& arguments, int& status) {
    std::vector<analysis::RunGroup> groups;
    for (std::size_t i = 0; i < request.groups.size(); ++i) {
        analysis::RunGroup& group = groups.emplace_back();
        group.label = request.labels[i];
        for (const std::string& path : request.groups[i]) {
            auto facts = read_facts(path, arguments, request.selection, status);
            if (!facts) {
                return std::nullopt;
            }
            group.runs.push_back(std::move(*facts));
            group.runs.back().path = path;
            group.runs.back().images = request.images[i];
        }
    }
    return groups;
}

std::string as_text(const analysis::Comparison& comparison, const CompareArguments& arguments) {
    const Terminal terminal = arguments.output.empty() ? standard_output() : Terminal{};
    analysis::ComparisonTableOptions tables;
    tables.best = arguments.best;
    tables.curve = arguments.curve;
    tables.for_text = true;
    tables.columns = arguments.wide ? 0 : terminal.columns;
    analysis::TextTableOptions options;
    options.columns = tables.columns;
    options.colour = terminal.colour;
    std::string text;
    for (const analysis::Table& table : analysis::comparison_tables(comparison, tables)) {
        // What is compared is one thing and has all its rows; what differs is a list.
        const bool is_list = table.name == "kernels" || table.name == "calls" || table.name == "spread";
        options.top = !is_list                            ? 0
                      : arguments.top_given->count() != 0 ? arguments.top
                                                          : analysis::TextTableOptions{}.top;
        const std::string lines = analysis::render_table_text(table, options);
        text += (text.empty() || lines.empty() ? "" : "\n") + lines;
    }
    return text;
}

/// The comparison in the format that was asked for; or which tables there are.
std::optional<std::string> rendered(const analysis::Comparison& comparison, const CompareArguments& arguments,
                                    analysis::NameForm form, std::string& text) {
    if (arguments.format == "text") {
        text = as_text(comparison, arguments);
        return std::nullopt;
    }
    analysis::ComparisonTableOptions options;
    options.best = arguments.best;
    options.curve = arguments.curve;
    std::vector<analysis::Table> tables = analysis::comparison_tables(comparison, options);
    if (arguments.format == "html") {
        text = comparison_page(comparison, std::move(tables), form, arguments);
        return std::nullopt;
    }
    if (arguments.format == "json") {
        const std::vector<analysis::ViewTables> views = {{"compare", std::move(tables)}};
        text = analysis::render_views_json(views);
        return std::nullopt;
    }
    std::vector<std::string> names;
    for (const analysis::Table& table : tables) {
        names.push_back(table.name);
        if (table.name == arguments.table) {
            text = analysis::render_csv(table);
            return std::nullopt;
        }
    }
    return fmt::format("there is no table \"{}\"; there are: {}", analysis::printable(arguments.table),
                       fmt::join(names, ", "));
}

int compare_traces(const CompareArguments& arguments) {
    CompareRequest request;
    if (const auto fault = read_compare_request(arguments, request)) {
        return fail(*fault, ExitCode::kUsage);
    }
    if (arguments.format == "html" && arguments.output.empty() && standard_output_is_terminal()) {
        return fail(kPageOnTerminal, ExitCode::kUsage);
    }
    int status = 0;
    auto groups = read_groups(request, arguments, status);
    if (!groups) {
        return status;
    }
    if (nothing_selected(*groups, arguments.part)) {
        return fail(fmt::format("{}: nothing of it ran on a device in any of the traces",
                                analysis::printable(arguments.part.words())),
                    ExitCode::kUsage);
    }
    analysis::CompareOptions options;
    options.threshold = request.threshold;
    const analysis::NameForm form = analysis::find_name_form(arguments.names).value();  // Checked when it was read.
    options.kernel_name = [form](const std::string& mangled) { return analysis::kernel_name(mangled, form); };
    const analysis::Comparison comparison = analysis::compare(std::move(*groups), options);
    for (const analysis::Condition& condition : request.conditions) {
        if (const auto fault = analysis::unknown_library(condition, comparison)) {
            return fail("--fail-if " + *fault, ExitCode::kUsage);
        }
    }
    std::string text;
    if (const auto fault = rendered(comparison, arguments, form, text)) {
        return fail(*fault, ExitCode::kUsage);
    }
    Output out(arguments.output);
    out.write(text);
    if (const auto fault = out.finish()) {
        return fail(*fault, ExitCode::kNotWritten);
    }
    ExitCode code = ExitCode::kDone;
    for (const analysis::RunGroup& group : comparison.groups) {
        for (const analysis::TraceFacts& run : group.runs) {
            code = run.partial ? ExitCode::kPartial : code;
        }
    }
    for (const analysis::Condition& condition : request.conditions) {
        for (const std::string& line : analysis::failures(condition, comparison)) {
            fail("failed: " + analysis::printable(line), ExitCode::kConditionMet);
            code = ExitCode::kConditionMet;
        }
    }
    return static_cast<int>(code);
}

}  // namespace

Subcommand add_compare_command(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("compare", "Traces side by side: what differs, and whether it may be compared");
    const auto arguments = std::make_shared<CompareArguments>();
    command->footer(kFooter);
    command->add_option("traces", arguments->traces, "Traces; the others are compared with the first")->required();
    command->add_option("--label", arguments->labels, "Names of what is compared, one each")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option("--images", arguments->images,
                     "How many images the runs worked through, or a number for each of them: for totals per image")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option("--names", arguments->names,
                     "Kernels are told apart by full name, base (the function alone: across builds), or mangled")
        ->check(CLI::IsMember(analysis::name_forms()))
        ->capture_default_str();
    command
        ->add_option("--threshold", arguments->threshold,
                     "Kernels and calls whose count and time differ by no more are not listed")
        ->capture_default_str();
    add_selection_options(*command, arguments->part, "Of each trace ");
    command->add_option("--fail-if", arguments->conditions, "Exit status 7 if this holds; may be given several times")
        ->allow_extra_args(false);
    command->add_flag("--best", arguments->best, "Name the best in each measure");
    command->add_flag("--curve", arguments->curve, "A table of images a second, trace by trace, for saturation curves");
    command
        ->add_option("--format", arguments->format,
                     "text, json (docs/report-views.md), html (a page) or csv (one table)")
        ->check(CLI::IsMember({"text", "json", "html", "csv"}))
        ->capture_default_str();
    command->add_option("--table", arguments->table, "The table that --format csv writes")->capture_default_str();
    arguments->top_given =
        command
            ->add_option("--top", arguments->top,
                         "Kernels and calls listed in text, rows of a page's tables at first; 0: all (20)")
            ->check([](const std::string& text) {
                return text.rfind('-', 0) == 0 ? text + " is no number of rows" : std::string();
            });
    command->add_option("-o,--output", arguments->output, "File to write to, instead of standard output, or -")
        ->check(names_an_output);
    command->add_flag("--wide", arguments->wide, "Text: cut nothing to the width of the line");
    return {command, [arguments] {
                arguments->output = without_dash(arguments->output);
                return compare_traces(*arguments);
            }};
}

}  // namespace gpuspy::report

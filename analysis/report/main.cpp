// gpuspy-report: reads a trace and prints what it says.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "analysis/passes/findings.hpp"
#include "analysis/reader/byte_source.hpp"
#include "analysis/render/call_list.hpp"
#include "analysis/render/json.hpp"
#include "analysis/render/text.hpp"
#include "analysis/report/compare_command.hpp"
#include "analysis/report/export_command.hpp"
#include "analysis/report/output.hpp"
#include "analysis/report/page.hpp"
#include "analysis/report/subcommand.hpp"
#include "analysis/report/terminal.hpp"
#include "analysis/report/trace_file.hpp"
#include "analysis/report/view_command.hpp"
#include "analysis/views/view.hpp"
#include "collector/abi/trace_format.hpp"

namespace {

using gpuspy::analysis::ExitCode;
using gpuspy::report::fail;

constexpr const char* kExitCodes =
    "Exit status: 0 done; 1 the report could not be written; 2 usage; 3 the trace cannot be opened;\n"
    "4 not a trace, or nothing readable in it; 5 made by a newer gpuspy; 6 the report was printed, and says\n"
    "what of the trace could not be read.";

constexpr const char* kSeveralViews = "; several views have commas between them: --view kernels,calls";

/// CLI11 would read "-1" as the largest number there is.
std::string not_negative(const std::string& text) {
    return text.rfind('-', 0) == 0 ? text + " is no number of rows" : std::string();
}

/// Every call, one a line, written while the trace is read.
int list_calls(const gpuspy::report::ViewOutput& output) {
    gpuspy::report::salvage(output.trace_path);
    const auto source = gpuspy::analysis::open_file(output.trace_path);
    if (!source.ok()) {
        return fail(output.trace_path + ": " + source.fault().message, source.fault().code);
    }
    gpuspy::report::Output out(output.output_path);
    const auto reading =
        gpuspy::analysis::list_calls(*source.value(), [&out](std::string_view lines) { return out.write(lines); });
    if (!reading.ok()) {
        return fail(output.trace_path + ": " + reading.fault().message, reading.fault().code);
    }
    out.write({});  // Without calls: the file is made all the same.
    if (const auto fault = out.finish()) {
        return fail(*fault, ExitCode::kNotWritten);
    }
    return reading.value().partial() ? gpuspy::report::partly_readable(output.trace_path, reading.value())
                                     : static_cast<int>(ExitCode::kDone);
}

int summarise(const gpuspy::report::ViewOutput& output) {
    int status = 0;
    const auto model = gpuspy::report::load(output.trace_path, gpuspy::report::WithTimeline::kIfSmall, status);
    if (model == nullptr) {
        return status;
    }
    const gpuspy::analysis::Findings findings = gpuspy::analysis::find_all(*model);
    std::string text;
    if (output.format == "json") {
        text = gpuspy::analysis::render_json(findings, {output.top});
    } else {
        gpuspy::analysis::TextOptions options;
        options.top = output.top_given ? output.top : options.top;
        text = gpuspy::analysis::render_text(findings, output.trace_path, options);
    }
    gpuspy::report::Output out(output.output_path);
    out.write(text);
    if (const auto fault = out.finish()) {
        return fail(*fault, ExitCode::kNotWritten);
    }
    return findings.run.reading.partial() ? gpuspy::report::partly_readable(output.trace_path, findings.run.reading)
                                          : static_cast<int>(ExitCode::kDone);
}

int report(const gpuspy::report::ViewOutput& output, const gpuspy::report::ViewArguments& views) {
    if (!output.output_path.empty() && gpuspy::report::same_file(output.output_path, output.trace_path)) {
        return fail(output.output_path + ": is the trace itself; give -o another file", ExitCode::kUsage);
    }
    if (output.format == "html" && output.output_path.empty() && gpuspy::report::standard_output_is_terminal()) {
        return fail(gpuspy::report::kPageOnTerminal, ExitCode::kUsage);
    }
    if (output.format == "calls") {
        return list_calls(output);
    }
    const bool tables_alone = output.format == "csv" || output.format == "html";
    return views.given().empty() && !tables_alone ? summarise(output) : gpuspy::report::show_views(views, output);
}

}  // namespace

int main(int argc, char** argv) {
    const auto log = spdlog::stderr_logger_st("gpuspy-report");
    log->set_pattern("%n: %v");
    spdlog::set_default_logger(log);

    CLI::App app("Prints what a gpuspy trace says about a GPU program.", "gpuspy-report");
    app.footer(kExitCodes);
    app.set_version_flag("--version", fmt::format("gpuspy-report {} (reads trace format {}.x)", GPUSPY_VERSION,
                                                  gpuspy::abi::kFormatMajor));
    gpuspy::report::ViewOutput output;
    gpuspy::report::ViewArguments views;
    app.add_option("trace", output.trace_path, "Trace to read, usually trace.bin");
    output.format = "text";
    app.add_option("--format", output.format,
                   "text, json (docs/report-json.md), html (a page with everything), csv (one table of a view), or "
                   "calls: every "
                   "recorded call, one a line")
        ->check(CLI::IsMember({"text", "json", "html", "csv", "calls"}))
        ->capture_default_str();
    const CLI::Option* top =
        app.add_option("--top", output.top, "Rows of each table; 0: all. Default: 20 for text, all for json")
            ->check(not_negative);
    app.add_option("-o,--output", output.output_path, "File to write the report to, instead of standard output, or -")
        ->check(gpuspy::report::names_an_output);
    add_view_options(app, views);
    const std::vector<gpuspy::report::Subcommand> subcommands = {
        gpuspy::report::add_compare_command(app),
        gpuspy::report::add_export_command(app),
    };
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
            return app.exit(error);
        }
        const bool is_extra_view = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !views.views.empty();
        return fail(
            std::string(error.what()) + (is_extra_view ? kSeveralViews : "") + " (gpuspy-report --help says more)",
            ExitCode::kUsage);
    }
    const auto chosen = std::find_if(subcommands.begin(), subcommands.end(),
                                     [](const auto& subcommand) { return subcommand.app->parsed(); });
    if (chosen == subcommands.end() && output.trace_path.empty()) {
        return fail("a trace is required (gpuspy-report --help says more)", ExitCode::kUsage);
    }
    if (chosen != subcommands.end()) {
        for (const CLI::Option* option : app.get_options()) {
            if (option->count() != 0) {
                return fail(
                    fmt::format("{} stands before {}, whose options stand behind its name (gpuspy-report {} --help)",
                                option->get_name(), chosen->app->get_name(), chosen->app->get_name()),
                    ExitCode::kUsage);
            }
        }
    }
    output.top_given = top->count() != 0;
    output.output_path = gpuspy::report::without_dash(output.output_path);
    // As in "--view kernels calls", whose second word is taken for the trace.
    if (!views.views.empty() && gpuspy::analysis::find_view(output.trace_path) != nullptr &&
        !std::filesystem::exists(output.trace_path)) {
        return fail(output.trace_path + " is a view, and no such trace is there" + kSeveralViews, ExitCode::kUsage);
    }
    if (output.format == "calls" && (output.top_given || !views.given().empty())) {
        return fail((output.top_given ? "--top" : views.given()) +
                        " is for tables, and --format calls has none (gpuspy-report --help says more)",
                    ExitCode::kUsage);
    }
    const std::string about = output.trace_path.empty() ? "" : output.trace_path + ": ";
    try {
        return chosen != subcommands.end() ? chosen->run() : report(output, views);
    } catch (const std::bad_alloc&) {
        return fail(about + "not enough memory to read it", ExitCode::kNotATrace);
    } catch (const std::exception& error) {
        return fail(about + error.what(), ExitCode::kNotATrace);
    }
}

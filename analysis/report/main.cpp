// gpuspy-report: reads a trace and prints what it says.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include <exception>
#include <new>
#include <string>

#include "analysis/model/build_model.hpp"
#include "analysis/passes/findings.hpp"
#include "analysis/reader/byte_source.hpp"
#include "analysis/reader/fault.hpp"
#include "analysis/render/call_list.hpp"
#include "analysis/render/json.hpp"
#include "analysis/render/text.hpp"
#include "analysis/report/output.hpp"
#include "analysis/report/salvage_first.hpp"
#include "collector/abi/trace_format.hpp"

namespace {

using gpuspy::analysis::ExitCode;
using gpuspy::analysis::Fault;

constexpr const char* kExitCodes =
    "Exit status: 0 done; 1 the report could not be written; 2 usage; 3 the trace cannot be opened;\n"
    "4 not a trace, or nothing readable in it; 5 made by a newer gpuspy; 6 the report was printed, and says\n"
    "what of the trace could not be read.";

struct Arguments {
    std::string trace_path;
    std::string format = "text";
    std::string output_path;
    std::size_t top = 0;
    bool top_given = false;
};

int fail(const std::string& message, ExitCode code) {
    spdlog::error("{}", message);
    return static_cast<int>(code);
}

int partly_readable(const Arguments& arguments, const gpuspy::analysis::ReadSummary& reading) {
    return fail(arguments.trace_path + ": partly readable: " + reading.describe(), ExitCode::kPartial);
}

/// CLI11 would read "-1" as the largest number there is.
std::string not_negative(const std::string& text) {
    return text.rfind('-', 0) == 0 ? text + " is no number of rows" : std::string();
}

/// Every call, one a line, written while the trace is read.
int list(const Arguments& arguments, const gpuspy::analysis::ByteSource& source) {
    gpuspy::report::Output output(arguments.output_path);
    const auto reading =
        gpuspy::analysis::list_calls(source, [&output](std::string_view lines) { return output.write(lines); });
    if (!reading.ok()) {
        return fail(arguments.trace_path + ": " + reading.fault().message, reading.fault().code);
    }
    output.write({});  // Without calls: the file is made all the same.
    if (const auto fault = output.finish()) {
        return fail(*fault, ExitCode::kNotWritten);
    }
    return reading.value().partial() ? partly_readable(arguments, reading.value()) : static_cast<int>(ExitCode::kDone);
}

int report(const Arguments& arguments) {
    if (!arguments.output_path.empty() && gpuspy::report::same_file(arguments.output_path, arguments.trace_path)) {
        return fail(arguments.output_path + ": is the trace itself; give -o another file", ExitCode::kUsage);
    }
    const auto source = gpuspy::analysis::open_file(arguments.trace_path);
    if (!source.ok()) {
        return fail(arguments.trace_path + ": " + source.fault().message, source.fault().code);
    }
    if (arguments.format == "calls") {
        return list(arguments, *source.value());
    }
    const auto model = gpuspy::analysis::build_model(*source.value());
    if (!model.ok()) {
        return fail(arguments.trace_path + ": " + model.fault().message, model.fault().code);
    }
    const gpuspy::analysis::Findings findings = gpuspy::analysis::find_all(*model.value());
    std::string text;
    if (arguments.format == "json") {
        text = gpuspy::analysis::render_json(findings, {arguments.top});
    } else {
        gpuspy::analysis::TextOptions options;
        options.top = arguments.top_given ? arguments.top : options.top;
        text = gpuspy::analysis::render_text(findings, arguments.trace_path, options);
    }
    gpuspy::report::Output output(arguments.output_path);
    output.write(text);
    if (const auto fault = output.finish()) {
        return fail(*fault, ExitCode::kNotWritten);
    }
    if (findings.run.reading.partial()) {
        return partly_readable(arguments, findings.run.reading);
    }
    return static_cast<int>(ExitCode::kDone);
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
    Arguments arguments;
    app.add_option("trace", arguments.trace_path, "Trace to read, usually trace.bin")->required();
    app.add_option("--format", arguments.format,
                   "text, json (docs/report-json.md), or calls: every recorded call, one a line")
        ->check(CLI::IsMember({"text", "json", "calls"}))
        ->capture_default_str();
    const CLI::Option* top =
        app.add_option("--top", arguments.top, "Rows of each table; 0: all. Default: 20 for text, all for json")
            ->check(not_negative);
    app.add_option("-o,--output", arguments.output_path, "File to write the report to, instead of standard output");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
            return app.exit(error);
        }
        return fail(std::string(error.what()) + " (gpuspy-report --help says more)", ExitCode::kUsage);
    }
    arguments.top_given = top->count() != 0;
    if (arguments.top_given && arguments.format == "calls") {
        return fail("--top is for tables, and --format calls has none (gpuspy-report --help says more)",
                    ExitCode::kUsage);
    }
    try {
        gpuspy::report::salvage_first(arguments.trace_path);
        return report(arguments);
    } catch (const std::bad_alloc&) {
        return fail(arguments.trace_path + ": not enough memory to read it", ExitCode::kNotATrace);
    } catch (const std::exception& error) {
        return fail(arguments.trace_path + ": " + error.what(), ExitCode::kNotATrace);
    }
}

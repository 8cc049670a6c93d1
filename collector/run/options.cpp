#include "collector/run/options.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "collector/run/environment.hpp"
#include "collector/run/option_values.hpp"
#include "collector/run/record.hpp"
#include "collector/sink/kept_limit.hpp"

namespace gpuspy::run {

namespace {

class HelpFormatter : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: gpuspy-run [OPTIONS] -- COMMAND [ARGUMENTS...]\n"
               "       gpuspy-run --check PROGRAM\n"
               "       gpuspy-run snapshot PID [-o FILE]\n"
               "       gpuspy-run sweep --param NAME=VALUE,... [OPTIONS] -- COMMAND [ARGUMENTS...]\n";
    }
};

constexpr const char* kFooter =
    "NVTX_INJECTION64_PATH is set for COMMAND, so that its NVTX ranges are recorded; unless it names another tool.\n\n"
    "Exit status: the command's own; 128 + signal when a signal ended it; 125 when gpuspy-run itself failed;\n"
    "126 when the command cannot be run; 127 when there is no such command.\n"
    "With --check: 0 it will be recorded; 1 it cannot be; 127 there is no such program.";

void add_options(CLI::App* app, Options* options) {
    app->add_option("-o,--output", options->output, "The trace (default: GPUSPY_OUTPUT, else trace.bin)")
        ->check(names_a_file)
        ->type_name("FILE");
    app->add_flag("--report", options->report, "Print the report when the command has ended");
    app->add_option("--device-timing", options->device_timing, "0: host events only, 1: device times too (default: 1)")
        ->check(CLI::IsMember({"0", "1"}))
        ->option_text("0|1");
    app->add_flag("--follow", options->follow, "Record the command's children too (the default)");
    app->add_flag("--no-children", options->no_children, "Record the command alone, not what it forks or starts");
    app->add_flag("-q,--quiet", options->quiet, "Do not name the traces that were written");
    app->add_option("--last", options->last,
                    "Keep the last part alone, within a fixed size: " + std::string(sink::kKeptLimitForms))
        ->check(is_not_empty)
        ->type_name("N");
    app->add_option("--check", options->check, "Run nothing; say whether PROGRAM will be recorded, and how")
        ->check(is_not_empty)
        ->type_name("PROGRAM");
}

/// "" or what is wrong with the command.
std::string take_command(std::vector<std::string> words, Options* options) {
    // An option that is not known ends ours, and would be taken for the command.
    if (!words.empty() && words.front() != "--" && words.front().rfind('-', 0) == 0) {
        return fmt::format("unknown option {}", words.front());
    }
    if (!words.empty() && words.front() == "--") {
        words.erase(words.begin());
    }
    options->command = std::move(words);
    if (options->follow && options->no_children) {
        return "--follow and --no-children exclude each other";
    }
    if (!options->check.empty() && !options->command.empty()) {
        return "--check takes one program and runs nothing: leave the command out";
    }
    if (std::string problem = kept_limit_problem("--last ", options->last); !problem.empty()) {
        return problem;
    }
    return options->check.empty() && options->command.empty() ? "no command to run" : "";
}

}  // namespace

bool read_options(int argc, const char* const* argv, Options* options, int* status) {
    CLI::App app("Runs COMMAND, records what it does on the GPU, and ends with its exit status.", "gpuspy-run");
    app.formatter(std::make_shared<HelpFormatter>());
    app.footer(kFooter);
    app.set_version_flag("--version", "gpuspy-run " GPUSPY_VERSION);
    add_options(&app, options);
    app.prefix_command();
    std::string problem;
    try {
        app.parse(argc, argv);
        problem = take_command(app.remaining(), options);
    } catch (const CLI::Success& request) {
        *status = app.exit(request);
        return false;
    } catch (const CLI::ParseError& error) {
        problem = error.what();
    }
    if (!problem.empty()) {
        spdlog::error("{}; see gpuspy-run --help", problem);
        *status = kOwnFailure;
    }
    return problem.empty();
}

}  // namespace gpuspy::run

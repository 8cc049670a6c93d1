// gpuspy-run: runs a command with libgpuspy.so preloaded and brings what it left in order.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/run/child.hpp"
#include "collector/run/environment.hpp"
#include "collector/run/traces.hpp"
#include "collector/sink/salvage.hpp"

namespace {

namespace run = gpuspy::run;

constexpr int kOwnFailure = 125;

struct Options {
    std::string output;
    bool report = false;
    std::string device_timing;
    std::vector<std::string> command;
};

class HelpFormatter : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: gpuspy-run [OPTIONS] -- COMMAND [ARGUMENTS...]\n";
    }
};

int fail(const std::string& message) {
    spdlog::error(message);
    return kOwnFailure;
}

/// Without -o the environment's choice holds, and without that the library's own default.
std::string choose_output(const std::string& wanted) {
    const char* variable = std::getenv("GPUSPY_OUTPUT");
    const std::string path = !wanted.empty()                            ? wanted
                             : variable != nullptr && *variable != '\0' ? variable
                                                                        : "trace.bin";
    std::error_code error;
    return run::absolute_path(path, std::filesystem::current_path(error).string());
}

void print_reports(const std::string& program, const std::vector<std::string>& traces) {
    for (const std::string& trace : traces) {
        std::cout.flush();
        const run::ChildResult result = run::run_child({program, trace}, {});
        if (result.spawn_error != 0) {
            spdlog::error("cannot run {}: {}", program, std::strerror(result.spawn_error));
            return;
        }
    }
}

/// The command has ended: rings, exit status, report. Nothing here changes the status that we end with.
void finish(const Options& options, const run::Settings& settings, const run::Installation& installation,
            const run::ChildResult& child) {
    const auto warn_of = [](const std::vector<std::string>& problems) {
        for (const std::string& problem : problems) {
            spdlog::warn(problem);
        }
    };
    warn_of(run::salvage_run(gpuspy::sink::kRingDirectory, settings.run_id));
    std::error_code error;
    if (std::filesystem::exists(settings.output, error) && !std::filesystem::is_regular_file(settings.output, error)) {
        return;  // A pipe or a device: whoever reads it has the trace.
    }
    const std::vector<std::string> traces = run::find_traces(settings.output, settings.run_id);
    if (traces.empty()) {
        spdlog::warn(
            "no CUDA call was seen: no trace was written (the command used no GPU, is statically linked or setuid, "
            "or cleared LD_PRELOAD)");
        return;
    }
    warn_of(run::note_wait_status(traces, child.pid, child.status));
    if (options.report) {
        print_reports(installation.report, traces);
    }
}

int record(const Options& options) {
    std::error_code error;
    const run::Installation installation =
        run::find_installation(std::filesystem::read_symlink("/proc/self/exe", error).string());
    if (installation.library.empty()) {
        return fail(
            fmt::format("libgpuspy.so is neither in {0} nor in {0}/../lib; install gpuspy whole", installation.folder));
    }
    if (options.report && installation.report.empty()) {
        return fail(
            fmt::format("gpuspy-report is not in {}; leave --report out or install gpuspy whole", installation.folder));
    }
    run::Settings settings;
    settings.library = installation.library;
    settings.output = choose_output(options.output);
    settings.run_id = run::make_run_id();
    if (!options.device_timing.empty()) {
        settings.device_timing = options.device_timing == "1";
    }
    for (const std::string& problem : {run::preload_problem(settings.library), run::output_problem(settings.output)}) {
        if (!problem.empty()) {
            return fail(problem);
        }
    }
    const run::ChildResult child =
        run::run_child(options.command, run::child_environment(settings, std::getenv("LD_PRELOAD")));
    if (child.spawn_error != 0) {
        spdlog::error("cannot run {}: {}", options.command.front(), std::strerror(child.spawn_error));
        return run::spawn_exit_status(child.spawn_error);
    }
    finish(options, settings, installation, child);
    return run::exit_status(child.status);
}

}  // namespace

int main(int argc, char** argv) {
    const auto logger = spdlog::stderr_logger_st("gpuspy-run");
    logger->set_pattern("gpuspy-run: %v");
    spdlog::set_default_logger(logger);

    Options options;
    CLI::App app("Runs COMMAND, records what it does on the GPU, and ends with its exit status.", "gpuspy-run");
    app.formatter(std::make_shared<HelpFormatter>());
    app.footer(
        "Exit status: the command's own; 128 + signal when a signal ended it; 125 when gpuspy-run itself failed;\n"
        "126 when the command cannot be run; 127 when there is no such command.");
    app.set_version_flag("--version", GPUSPY_VERSION);
    app.add_option("-o,--output", options.output, "The trace (default: GPUSPY_OUTPUT, else trace.bin)")
        ->type_name("FILE");
    app.add_flag("--report", options.report, "Print the report when the command has ended");
    app.add_option("--device-timing", options.device_timing, "0: host events only, 1: device times too (default: 1)")
        ->check(CLI::IsMember({"0", "1"}))
        ->option_text("0|1");
    app.prefix_command();
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& request) {
        return app.exit(request);
    } catch (const CLI::ParseError& error) {
        return fail(fmt::format("{}; see gpuspy-run --help", error.what()));
    }
    options.command = app.remaining();
    // An option that is not known ends ours, and would be taken for the command.
    if (!options.command.empty() && options.command.front() != "--" && options.command.front().rfind('-', 0) == 0) {
        return fail(fmt::format("unknown option {}; see gpuspy-run --help", options.command.front()));
    }
    if (!options.command.empty() && options.command.front() == "--") {
        options.command.erase(options.command.begin());
    }
    if (options.command.empty()) {
        return fail("no command to run; see gpuspy-run --help");
    }
    return record(options);
}

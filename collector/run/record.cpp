#include "collector/run/record.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "collector/run/check.hpp"
#include "collector/run/child.hpp"
#include "collector/run/environment.hpp"
#include "collector/run/preload_obstacle.hpp"
#include "collector/run/traces.hpp"
#include "collector/sink/salvage.hpp"

namespace gpuspy::run {

namespace fs = std::filesystem;

namespace {

int fail(const std::string& message) {
    spdlog::error(message);
    return kOwnFailure;
}

void warn_of(const std::vector<std::string>& problems) {
    for (const std::string& problem : problems) {
        spdlog::warn(problem);
    }
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// Without -o the environment's choice holds, and without that the library's own default.
std::string choose_output(const std::string& wanted) {
    const std::string from_environment = variable("GPUSPY_OUTPUT");
    const std::string path = !wanted.empty() ? wanted : !from_environment.empty() ? from_environment : "trace.bin";
    std::error_code error;
    return absolute_path(path, fs::current_path(error).string());
}

void print_reports(const std::string& program, const std::vector<std::string>& traces) {
    for (const std::string& trace : traces) {
        std::cout.flush();
        const ChildResult result = run_child({program, trace}, {});
        if (result.spawn_error != 0) {
            spdlog::error("cannot run {}: {}", program, std::strerror(result.spawn_error));
            return;
        }
    }
}

void explain_no_trace(const Obstacle& obstacle) {
    if (!obstacle.reason.empty()) {
        spdlog::warn("no trace was written: {}", obstacle.reason);
    } else {
        spdlog::warn(
            "no CUDA call was seen: no trace was written (the command used no GPU, or cleared LD_PRELOAD, or started "
            "a program that is statically linked or setuid)");
    }
}

/// The command has ended: rings, exit status, report. Nothing here changes the status that we end with.
void finish(const Options& options, const Settings& settings, const Installation& installation,
            const ChildResult& child, const Obstacle& obstacle) {
    warn_of(salvage_run(sink::kRingDirectory, settings.run_id));
    std::error_code error;
    if (fs::exists(settings.output, error) && !fs::is_regular_file(settings.output, error)) {
        return;  // A pipe or a device: whoever reads it has the trace.
    }
    const std::vector<std::string> traces = find_traces(settings.output, settings.run_id);
    if (traces.empty()) {
        explain_no_trace(obstacle);
        return;
    }
    warn_of(note_wait_status(traces, child.pid, child.status));
    if (!options.quiet) {
        spdlog::info(describe_traces(traces, fs::current_path(error).string()));
    }
    if (options.report) {
        print_reports(installation.report, traces);
    }
}

/// "" or one line that says why nothing can be recorded.
std::string find_problem(const Options& options, const Settings& settings, const Installation& installation) {
    if (installation.library.empty()) {
        return fmt::format("libgpuspy.so is in none of {}; install gpuspy whole", installation.looked);
    }
    if (options.report && installation.report.empty()) {
        return fmt::format("gpuspy-report is not in {}; leave --report out or install gpuspy whole",
                           installation.folder);
    }
    const std::string problem = preload_problem(settings.library);
    return problem.empty() ? output_problem(settings.output) : problem;
}

}  // namespace

int record(const Options& options) {
    std::error_code error;
    const Installation installation =
        find_installation(fs::read_symlink("/proc/self/exe", error).string(), GPUSPY_LIBRARY_FOLDER);
    Settings settings;
    settings.library = installation.library;
    settings.output = choose_output(options.output);
    settings.run_id = make_run_id();
    settings.follow_children = !options.no_children;
    if (!options.device_timing.empty()) {
        settings.device_timing = options.device_timing == "1";
    }
    if (const std::string problem = find_problem(options, settings, installation); !problem.empty()) {
        return fail(problem);
    }
    const bool disabled = is_disabled(variable("GPUSPY_DISABLE"));
    if (disabled) {
        spdlog::warn("GPUSPY_DISABLE=1 is set: nothing is recorded; unset it to record");
    }
    const Obstacle obstacle = find_obstacle_of_command(options.command.front());
    EnvironmentChange environment;
    if (!obstacle.breaks) {
        environment = child_environment(settings, std::getenv("LD_PRELOAD"), std::getenv(kNvtxInjection));
        const std::string problem = disabled ? "" : nvtx_problem(settings.library, std::getenv(kNvtxInjection));
        if (!problem.empty()) {
            spdlog::warn(problem);
        }
    }
    const ChildResult child = run_child(options.command, environment);
    if (child.spawn_error != 0) {
        spdlog::error("cannot run {}: {}", options.command.front(), std::strerror(child.spawn_error));
        return spawn_exit_status(child.spawn_error);
    }
    if (!disabled) {
        finish(options, settings, installation, child, obstacle);
    }
    return exit_status(child.status);
}

}  // namespace gpuspy::run

#include "collector/run/record.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "collector/run/check.hpp"
#include "collector/run/option_values.hpp"
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

/// A command of ours is one only as the first word.
std::string hint_of_own_command(const std::string& name) {
    return name == "snapshot" || name == "sweep"
               ? fmt::format("; gpuspy-run {0} has its options behind its name: gpuspy-run {0} --help", name)
               : "";
}

/// The command has ended: its rings and how it ended go into the traces that it left. Nothing here changes the status that we
/// end with.
std::vector<std::string> finish(const Settings& settings, const ChildResult& child, const Obstacle& obstacle) {
    warn_of(salvage_run(sink::kRingDirectory, settings.run_id));
    std::error_code error;
    if (fs::exists(settings.output, error) && !fs::is_regular_file(settings.output, error)) {
        return {};  // A pipe or a device: whoever reads it has the trace.
    }
    std::vector<std::string> traces = find_traces(settings.output, settings.run_id);
    if (traces.empty()) {
        explain_no_trace(obstacle);
        return {};
    }
    warn_of(note_wait_status(traces, child.pid, child.status));
    return traces;
}

}  // namespace

Installation own_installation() {
    std::error_code error;
    return find_installation(fs::read_symlink("/proc/self/exe", error).string(), GPUSPY_LIBRARY_FOLDER);
}

std::string record_problem(const Installation& installation, const std::string& output) {
    if (installation.library.empty()) {
        return fmt::format("libgpuspy.so is in none of {}; install gpuspy whole", installation.looked);
    }
    const std::string problem = preload_problem(installation.library);
    return problem.empty() ? output_problem(output) : problem;
}

void warn_if_disabled() {
    if (is_disabled(variable("GPUSPY_DISABLE"))) {
        spdlog::warn("GPUSPY_DISABLE=1 is set: nothing is recorded; unset it to record");
    }
}

Recorded record_once(const Installation& installation, const RecordRequest& request) {
    Settings settings;
    settings.library = installation.library;
    settings.output = request.output;
    settings.run_id = make_run_id();
    settings.device_timing = request.device_timing;
    settings.last = request.last;
    settings.follow_children = request.follow_children;
    const bool disabled = is_disabled(variable("GPUSPY_DISABLE"));
    const Obstacle obstacle = find_obstacle_of_command(request.command.front());
    if (obstacle.wants_to_be_first) {
        settings.asan_options = variable(kAsanOptions);
    }
    EnvironmentChange environment;
    if (!obstacle.breaks) {
        environment = child_environment(settings, std::getenv("LD_PRELOAD"), std::getenv(kNvtxInjection));
        const std::string problem = disabled ? "" : nvtx_problem(settings.library, std::getenv(kNvtxInjection));
        if (!problem.empty()) {
            spdlog::warn(problem);
        }
    }
    Recorded recorded;
    recorded.child = run_child(request.command, environment);
    if (recorded.child.spawn_error != 0) {
        spdlog::error("cannot run {}: {}{}", request.command.front(), std::strerror(recorded.child.spawn_error),
                      hint_of_own_command(request.command.front()));
    } else if (!disabled) {
        recorded.traces = finish(settings, recorded.child, obstacle);
    }
    return recorded;
}

std::string kept_problem() {
    return kept_limit_problem("GPUSPY_LAST=", variable("GPUSPY_LAST"));
}

int record(const Options& options) {
    const Installation installation = own_installation();
    RecordRequest request;
    request.command = options.command;
    request.output = choose_output(options.output);
    request.follow_children = !options.no_children;
    request.last = options.last;
    if (!options.device_timing.empty()) {
        request.device_timing = options.device_timing == "1";
    }
    // The same words as of -o, and the same for a name that the environment gives.
    std::string problem = options.output.empty() && variable("GPUSPY_OUTPUT") == "-"
                              ? "GPUSPY_OUTPUT: " + names_a_file("-")
                              : record_problem(installation, request.output);
    if (problem.empty() && options.last.empty()) {
        problem = kept_problem();
    }
    if (problem.empty() && options.report && installation.report.empty()) {
        problem =
            fmt::format("gpuspy-report is not in {}; leave --report out or install gpuspy whole", installation.folder);
    }
    if (!problem.empty()) {
        return fail(problem);
    }
    warn_if_disabled();
    const Recorded recorded = record_once(installation, request);
    if (recorded.child.spawn_error != 0) {
        return spawn_exit_status(recorded.child.spawn_error);
    }
    std::error_code error;
    if (!recorded.traces.empty() && !options.quiet) {
        spdlog::info(describe_traces(recorded.traces, fs::current_path(error).string()));
    }
    if (options.report) {
        print_reports(installation.report, recorded.traces);
    }
    return exit_status(recorded.child.status);
}

}  // namespace gpuspy::run

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string_view>

#include "collector/run/environment.hpp"
#include "collector/run/option_values.hpp"
#include "collector/run/record.hpp"
#include "collector/run/snapshot.hpp"
#include "collector/run/traces.hpp"
#include "collector/sink/salvage.hpp"

namespace gpuspy::run {

namespace {

class HelpFormatter : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: gpuspy-run snapshot PID [-o FILE]\n";
    }
};

constexpr const char* kFooter =
    "The process goes on and is still recorded. An older trace at FILE is moved to FILE.old.\n"
    "Exit status: 0 the copy is there; 1 there is none; 125 usage.";

}  // namespace

bool is_snapshot(int argc, const char* const* argv) {
    return argc > 1 && std::string_view(argv[1]) == "snapshot";
}

bool read_snapshot_options(int argc, const char* const* argv, SnapshotOptions* options, int* status) {
    CLI::App app("Saves a copy of the trace of a process that is being recorded, up to now.", "gpuspy-run snapshot");
    app.formatter(std::make_shared<HelpFormatter>());
    app.footer(kFooter);
    app.add_option("pid", options->pid, "The process, as ps shows it")->type_name("PID")->required();
    app.add_option("-o,--output", options->output, "The copy (default: snapshot.PID.bin)")
        ->check(names_a_file)
        ->type_name("FILE");
    std::string problem;
    try {
        app.parse(argc, argv);
        problem = options->pid > 0 ? "" : fmt::format("{} is no process", options->pid);
    } catch (const CLI::Success& request) {
        *status = app.exit(request);
        return false;
    } catch (const CLI::ParseError& error) {
        problem = error.what();
    }
    if (!problem.empty()) {
        spdlog::error("{}; see gpuspy-run snapshot --help", problem);
        *status = kOwnFailure;
    }
    return problem.empty();
}

int snapshot(const SnapshotOptions& options) {
    constexpr int kNoSnapshot = 1;
    // Beyond the limit on the size of files a write shall fail, and not end us with half a copy there.
    std::signal(SIGXFSZ, SIG_IGN);
    std::error_code error;
    const std::string folder = std::filesystem::current_path(error).string();
    const std::string name = options.output.empty() ? fmt::format("snapshot.{}.bin", options.pid) : options.output;
    const std::string path = absolute_path(name, folder);
    std::string problem = output_problem(path);
    if (problem.empty()) {
        const SnapshotResult result = take_snapshot(sink::kRingDirectory, options.pid, path);
        problem = result.problem;
        if (problem.empty()) {
            spdlog::info("{} of process {}: the {:.3f} s and {} blocks that {} holds so far",
                         describe_traces({result.path}, folder), options.pid, result.seconds, result.blocks,
                         result.trace);
            return 0;
        }
    }
    spdlog::error(problem);
    return kNoSnapshot;
}

}  // namespace gpuspy::run

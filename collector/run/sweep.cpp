#include "collector/run/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "collector/run/record.hpp"

namespace gpuspy::run {

namespace fs = std::filesystem;

namespace {

/// Between two runs a signal finds us alone; during one, run_child() takes it.
volatile std::sig_atomic_t stop_signal = 0;

void note_signal(int signal) {
    stop_signal = signal;
}

void note_signals() {
    struct sigaction action {};
    action.sa_handler = note_signal;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        struct sigaction before {};
        // What our parent has us ignore (nohup) stays ignored.
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(signal, &action, nullptr);
        }
    }
}

/// What came of a setting's runs.
struct Outcome {
    std::vector<std::string> traces;  ///< Of the runs that went well.
    std::vector<std::string> faults;  ///< One line for each that did not.
};

/// Makes the folder; "" or one line that says why it cannot be. `made`: it was not there.
std::string make_folder(const std::string& wanted, fs::path* folder, bool* made) {
    std::error_code error;
    const fs::path base = fs::absolute(wanted.empty() ? "gpuspy-sweep" : wanted, error);
    *folder = base;
    for (int number = 1; wanted.empty() && fs::exists(fs::symlink_status(*folder, error)); ++number) {
        *folder = fs::path(fmt::format("{}.{}", base.string(), number));
    }
    if (folder->string().find(',') != std::string::npos) {
        return fmt::format("the folder {} has a comma in its name; give -o another one", folder->string());
    }
    if (fs::is_directory(*folder, error) && fs::is_empty(*folder, error)) {
        return "";
    }
    if (fs::exists(fs::symlink_status(*folder, error))) {
        return fmt::format("{} is there already, and nothing in it is overwritten; give -o another folder",
                           folder->string());
    }
    if (!fs::create_directory(*folder, error)) {
        return fmt::format("cannot make the folder {}: {}; use -o DIR", folder->string(), error.message());
    }
    *made = true;
    return "";
}

/// "" or one line that says why no page can be written there: better before the runs than behind them.
std::string page_problem(const std::string& page) {
    std::error_code error;
    if (fs::is_directory(page, error)) {
        return fmt::format("--html {}: is a directory; name a file", page);
    }
    const fs::path parent = fs::absolute(page, error).parent_path();
    if (!fs::is_directory(parent, error)) {
        return fmt::format("--html {}: there is no directory {}; create it", page, parent.string());
    }
    // It is made beside its place first. Asking for permission would not find a file system that is full or takes no files.
    std::string trial = (parent / ".gpuspy-sweep-XXXXXX").string();
    const int fd = mkstemp(trial.data());
    const int problem = fd >= 0 ? 0 : errno;
    if (fd >= 0) {
        close(fd);
        unlink(trial.c_str());
    }
    // Else what is there is written over (analysis/report/output.cpp).
    return problem == 0 || access(page.c_str(), W_OK) == 0
               ? ""
               : fmt::format("--html {}: cannot be written: {}; name another file", page, std::strerror(problem));
}

std::string ending(int wait_status) {
    if (WIFSIGNALED(wait_status)) {
        return fmt::format("ended by signal {} ({})", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    }
    return fmt::format("exit status {}", WEXITSTATUS(wait_status));
}

class Sweep {
public:
    Sweep(const SweepOptions& options, Installation installation, fs::path folder)
        : options_(options),
          installation_(std::move(installation)),
          folder_(std::move(folder)),
          outcomes_(options.settings.size()) {}

    /// Repeats are spread over the sweep, so that a machine that warms up or is busy for a while is so for all settings.
    /// The exit status, 0 while nothing went wrong.
    int run() {
        std::size_t done = 0;
        for (std::size_t run = 0; run < options_.repeat; ++run) {
            for (std::size_t setting = 0; setting < outcomes_.size(); ++setting) {
                if (stop_signal != 0) {
                    return 128 + stop_signal;
                }
                ++done;
                if (!options_.quiet) {
                    spdlog::info("{} of {}: {}{}", done, outcomes_.size() * options_.repeat,
                                 describe(options_.settings[setting]),
                                 options_.repeat > 1 ? fmt::format(", run {}", run + 1) : "");
                }
                if (const int status = run_one(setting, run); status != 0) {
                    return status;
                }
            }
        }
        return 0;
    }

    /// The settings that failed, on standard output, and the comparison of the others, as a page too where one is wanted.
    /// False: something could not be written.
    bool print() {
        std::vector<std::string> command = {installation_.report, "compare", "--best"};
        std::vector<std::string> labels;
        std::vector<std::string> images;
        std::vector<std::string> traces;
        for (std::size_t setting = 0; setting < outcomes_.size(); ++setting) {
            if (outcomes_[setting].traces.empty()) {
                continue;
            }
            labels.push_back(describe(options_.settings[setting]));
            traces.push_back(fmt::format("{}", fmt::join(outcomes_[setting].traces, ",")));
            if (!options_.images.empty()) {
                images.push_back(fmt::format("{:f}", options_.images[setting]));
            }
        }
        print_runs();
        if (traces.empty()) {
            spdlog::error("no run was recorded that went well: there is nothing to compare");
            return true;
        }
        command.insert(command.end(), {"--label", fmt::format("{}", fmt::join(labels, ","))});
        if (!images.empty()) {
            command.insert(command.end(), {"--curve", "--images", fmt::format("{}", fmt::join(images, ","))});
        }
        command.insert(command.end(), traces.begin(), traces.end());
        std::cout << std::flush;
        const bool printed = compare(command) && static_cast<bool>(std::cout);
        if (options_.page.empty()) {
            return printed;
        }
        command.insert(command.begin() + 2, {"--format", "html", "--output", options_.page});
        return compare(command) && printed;
    }

    [[nodiscard]] bool all_well() const {
        for (const Outcome& outcome : outcomes_) {
            if (!outcome.faults.empty()) {
                return false;
            }
        }
        return true;
    }

private:
    [[nodiscard]] bool compare(const std::vector<std::string>& command) const {
        const ChildResult result = run_child(command, {});
        if (result.spawn_error != 0) {
            spdlog::error("cannot run {}: {}", installation_.report, std::strerror(result.spawn_error));
        }
        constexpr int kPartly = 6;  // gpuspy-report's: printed, and says what of a trace could not be read.
        const int status = exit_status(result.status);
        return result.spawn_error == 0 && (status == 0 || status == kPartly);
    }

    /// 0, or the exit status of a sweep that ends here.
    int run_one(std::size_t setting, std::size_t run) {
        Outcome& outcome = outcomes_[setting];
        RecordRequest request;
        request.command = options_.commands[setting];
        request.output = (folder_ / trace_name(options_.settings[setting], setting, run, options_.repeat)).string();
        request.follow_children = !options_.no_children;
        if (!options_.device_timing.empty()) {
            request.device_timing = options_.device_timing == "1";
        }
        const Recorded recorded = record_once(installation_, request);
        const ChildResult& child = recorded.child;
        if (child.spawn_error != 0) {
            outcome.faults.push_back(fmt::format("cannot be run: {}", std::strerror(child.spawn_error)));
            return spawn_exit_status(child.spawn_error);
        }
        if (child.stop_signal != 0) {
            outcome.faults.push_back("interrupted");
            return 128 + child.stop_signal;
        }
        if (child.status != 0) {
            outcome.faults.push_back(ending(child.status) +
                                     (recorded.traces.empty() ? "" : "; its trace is kept, and not compared"));
        } else if (recorded.traces.empty()) {
            outcome.faults.emplace_back("left no trace");
        } else {
            outcome.traces.push_back(recorded.traces.front());
            if (recorded.traces.size() > 1) {
                spdlog::warn("{}: {} processes left traces; {} is compared", describe(options_.settings[setting]),
                             recorded.traces.size(), recorded.traces.front());
            }
        }
        return 0;
    }

    void print_runs() const {
        std::cout << fmt::format("Sweep of {} in {}\n", fmt::join(options_.command, " "), folder_.string());
        for (std::size_t setting = 0; setting < outcomes_.size(); ++setting) {
            const Outcome& outcome = outcomes_[setting];
            std::string line = fmt::format("  {}: {} of {} runs recorded", describe(options_.settings[setting]),
                                           outcome.traces.size(), options_.repeat);
            for (const std::string& fault : outcome.faults) {
                line += "; failed: " + fault;
            }
            std::cout << line << "\n";
        }
        std::cout << "\n";
    }

    const SweepOptions& options_;
    Installation installation_;
    fs::path folder_;
    std::vector<Outcome> outcomes_;
};

}  // namespace

int sweep(const SweepOptions& options) {
    const Installation installation = own_installation();
    if (installation.report.empty()) {
        spdlog::error("gpuspy-report is not in {}; install gpuspy whole", installation.folder);
        return kOwnFailure;
    }
    fs::path folder;
    bool made = false;
    std::string problem = kept_problem();
    if (problem.empty()) {
        problem = make_folder(options.folder, &folder, &made);
    }
    if (problem.empty() && !options.page.empty()) {
        problem = page_problem(options.page);  // Now: it may go into the folder.
    }
    if (problem.empty()) {
        problem = record_problem(installation, (folder / "trace.bin").string());
    }
    // One that nothing was recorded into; a folder with anything in it stays.
    const auto remove_if_empty = [&] {
        std::error_code ignored;
        if (made) {
            fs::remove(folder, ignored);
        }
    };
    if (!problem.empty()) {
        remove_if_empty();
        spdlog::error(problem);
        return kOwnFailure;
    }
    warn_if_disabled();
    note_signals();
    Sweep sweep(options, installation, folder);
    const int status = sweep.run();
    const bool is_printed = sweep.print();
    remove_if_empty();
    if (!is_printed) {
        return kOwnFailure;
    }
    return status != 0 ? status : sweep.all_well() ? 0 : 1;
}

}  // namespace gpuspy::run

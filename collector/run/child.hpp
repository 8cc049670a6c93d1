// Runs a command as if we were not there: its terminal, its signals, its exit status.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace gpuspy::run {

struct ChildResult {
    int spawn_error = 0;  ///< errno value when the command could not be started: `status` means nothing then.
    pid_t pid = 0;
    int status = 0;  ///< As wait(2) gives it.
    int stop_signal =
        0;  ///< Meant to end us, meanwhile: SIGINT, SIGTERM, SIGHUP or SIGQUIT; 0: none. The command got it too.
};

/// What the command finds in its environment that we do not.
struct EnvironmentChange {
    std::vector<std::pair<std::string, std::string>> set;
    std::vector<std::string> unset;
    std::string set_to_pid;  ///< Variable that gets the command's pid; "": none.
};

/// Starts the command in the changed environment, and waits for its end. Meanwhile a signal that another process sent to
/// us is passed on. One from the terminal is not: the command is in the same process group and gets its own. Job
/// control is left to the shell: when the group is stopped, so are we.
ChildResult run_child(const std::vector<std::string>& command, const EnvironmentChange& environment);

/// The status that a shell gives: the command's own, or 128 + signal.
int exit_status(int wait_status);

/// 127: there is no such command. 126: it is there and cannot be run.
int spawn_exit_status(int spawn_error);

}  // namespace gpuspy::run

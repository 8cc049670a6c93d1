#include "collector/run/child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace gpuspy::run {

namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/// What the command must find as we found it.
struct SignalState {
    sigset_t mask;
    struct sigaction on_child_end;
};

/// Our signals wait until sigwaitinfo() takes them.
SignalState hold_signals(sigset_t* held) {
    SignalState before{};
    sigemptyset(held);
    sigaddset(held, SIGCHLD);
    for (const int signal : kForwarded) {
        sigaddset(held, signal);
    }
    sigprocmask(SIG_BLOCK, held, &before.mask);
    // Ignored, as some parents leave it, it would take the exit status away.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &before.on_child_end);
    return before;
}

void change_environment(const EnvironmentChange& change) {
    for (const std::string& name : change.unset) {
        unsetenv(name.c_str());
    }
    for (const auto& [name, value] : change.set) {
        setenv(name.c_str(), value.c_str(), 1);
    }
    if (!change.set_to_pid.empty()) {
        setenv(change.set_to_pid.c_str(), std::to_string(getpid()).c_str(), 1);
    }
}

[[noreturn]] void become(const std::vector<std::string>& command, const EnvironmentChange& environment,
                         const SignalState& signals, int report_fd) {
    change_environment(environment);
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
        arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    sigaction(SIGCHLD, &signals.on_child_end, nullptr);
    sigprocmask(SIG_SETMASK, &signals.mask, nullptr);
    execvp(arguments[0], arguments.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t told = write(report_fd, &error, sizeof error);
    _exit(127);
}

bool is_from_another_process(const siginfo_t& info, pid_t child) {
    // The kernel's (a terminal's) went to the whole group. The command's own, to its parent, are not meant for it.
    return info.si_code <= 0 && info.si_pid != child;
}

bool is_to_stop(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

int wait_for(pid_t child, const sigset_t& held, int* stop_signal) {
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) {
            return status;
        }
        siginfo_t info{};
        const int signal = sigwaitinfo(&held, &info);
        if (is_to_stop(signal)) {
            *stop_signal = signal;
        }
        if (signal > 0 && signal != SIGCHLD && is_from_another_process(info, child)) {
            kill(child, signal);
        }
    }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, const EnvironmentChange& environment) {
    ChildResult result;
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        result.spawn_error = errno;
        return result;
    }
    sigset_t held;
    const SignalState signals = hold_signals(&held);
    result.pid = fork();
    if (result.pid == 0) {
        become(command, environment, signals, report[1]);
    }
    const int fork_error = errno;
    close(report[1]);
    if (result.pid < 0) {
        result.spawn_error = fork_error;
    } else {
        // Nothing comes when exec closes the other end.
        while (read(report[0], &result.spawn_error, sizeof result.spawn_error) < 0 && errno == EINTR) {
        }
        result.status = wait_for(result.pid, held, &result.stop_signal);
    }
    close(report[0]);
    sigaction(SIGCHLD, &signals.on_child_end, nullptr);
    // What is still held is dropped here: the command is gone, and our own work is short.
    const timespec now{};
    for (int signal = 0; (signal = sigtimedwait(&held, nullptr, &now)) > 0;) {
        if (is_to_stop(signal)) {
            result.stop_signal = signal;
        }
    }
    sigprocmask(SIG_SETMASK, &signals.mask, nullptr);
    return result;
}

int exit_status(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int spawn_exit_status(int spawn_error) {
    return spawn_error == ENOENT || spawn_error == ENOTDIR ? 127 : 126;
}

}  // namespace gpuspy::run

// gpuspy-run as a person runs it, with stand-ins for the library and the report.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <functional>

#include "collector/run/traces.hpp"
#include "tests/unit/sink/fixtures.hpp"
#include "tests/unit/sink/trace_dump.hpp"

using namespace gpuspy::test;
using Arguments = std::vector<std::string>;

namespace {

const std::string kInstallation = RUN_INSTALLATION;
const std::string kNoCuda =
    "gpuspy-run: no CUDA call was seen: no trace was written (the command used no GPU, or cleared LD_PRELOAD, or "
    "started "
    "a program that is statically linked or setuid)\n";

struct Ended {
    int status = -1;  ///< As wait(2) gives it.
    std::string out;
    std::string err;
    [[nodiscard]] int code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }
};

/// The line that names traces, without their sizes.
std::string names_of(std::string line) {
    for (std::size_t open; (open = line.find(" (")) != std::string::npos;) {
        const std::size_t close = line.find("B)", open);
        REQUIRE(close != std::string::npos);
        line.erase(open, close + 2 - open);
    }
    return line;
}

std::string size_text(const std::string& path) {
    return std::to_string(std::filesystem::file_size(path)) + " B";
}

std::string take_all(int fd) {
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; (count = read(fd, buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(count));
    }
    close(fd);
    return text;
}

/// Whether a process comes into this state (proc(5)) within 30 s.
bool wait_for_state(pid_t pid, char state) {
    for (int i = 0; i < 30'000; ++i) {
        std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
        std::string text;
        std::getline(stat, text);
        const std::size_t name_end = text.rfind(')');
        if (name_end != std::string::npos && text[name_end + 2] == state) {
            return true;
        }
        usleep(1000);
    }
    return false;
}

/// gpuspy-run, started in a folder.
class Launch {
public:
    TempFolder folder;
    std::string program = kInstallation + "/bin/gpuspy-run";
    std::vector<std::pair<std::string, std::string>> environment;
    std::function<void()> before_exec = [] {};

    pid_t start(const Arguments& arguments) {
        REQUIRE(pipe2(out_, O_CLOEXEC) == 0);
        REQUIRE(pipe2(err_, O_CLOEXEC) == 0);
        pid_ = fork();
        if (pid_ == 0) {
            dup2(out_[1], 1);
            dup2(err_[1], 2);
            for (const char* name : {"GPUSPY_OUTPUT", "GPUSPY_LAST", "GPUSPY_RUN_ID", "GPUSPY_DISABLE", "LD_PRELOAD",
                                     "NVTX_INJECTION64_PATH"}) {
                unsetenv(name);
            }
            for (const auto& [name, value] : environment) {
                setenv(name.c_str(), value.c_str(), 1);
            }
            std::vector<char*> argv{program.data()};
            for (const std::string& argument : arguments) {
                argv.push_back(const_cast<char*>(argument.c_str()));
            }
            argv.push_back(nullptr);
            before_exec();
            if (chdir(folder.path().c_str()) == 0) {
                execv(program.c_str(), argv.data());
            }
            _exit(99);
        }
        close(out_[1]);
        close(err_[1]);
        return pid_;
    }
    /// The next line that the command prints.
    std::string read_line() {
        std::string line;
        for (char c = '\0'; c != '\n';) {
            pollfd wait{out_[0], POLLIN, 0};
            REQUIRE(poll(&wait, 1, 30'000) == 1);
            REQUIRE(read(out_[0], &c, 1) == 1);
            line += c;
        }
        line.pop_back();
        return line;
    }
    Ended finish() {
        Ended ended;
        ended.out = take_all(out_[0]);
        ended.err = take_all(err_[0]);
        REQUIRE(waitpid(pid_, &ended.status, 0) == pid_);
        return ended;
    }
    Ended run(const Arguments& arguments) {
        start(arguments);
        return finish();
    }
    Ended shell(const std::string& script) { return run({"--", "/bin/sh", "-c", script}); }

private:
    int out_[2] = {};
    int err_[2] = {};
    pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("the command's output and exit status are its own") {
    Launch launch;
    const Ended ended = launch.shell("echo out; echo err >&2; exit 7");
    REQUIRE(ended.code() == 7);
    REQUIRE(ended.out == "out\n");
    REQUIRE(ended.err == "err\n" + kNoCuda);
    REQUIRE(std::filesystem::is_empty(launch.folder.path()));
}

TEST_CASE("the command's arguments are its own, with and without --") {
    Launch launch;
    REQUIRE(launch.run({"--", "/bin/echo", "-o", "a b", "--report", ""}).out == "-o a b --report \n");
    REQUIRE(launch.run({"/bin/echo", "-o", "--help", "--", "x"}).out == "-o --help -- x\n");
    REQUIRE(launch.run({"-o", "t.bin", "/bin/echo", "-o", "x"}).out == "-o x\n");
}

TEST_CASE("a signal that ends the command is 128 + its number") {
    Launch launch;
    REQUIRE(launch.shell("kill -SEGV $$").code() == 139);
    REQUIRE(launch.shell("kill -KILL $$").code() == 137);
}

TEST_CASE("a command that cannot be started") {
    Launch launch;
    const Ended none = launch.run({"--", "no-such-command"});
    REQUIRE(none.code() == 127);
    REQUIRE(none.err == "gpuspy-run: cannot run no-such-command: No such file or directory\n");
    const Ended option = launch.run({"-q", "snapshot", "1"});
    REQUIRE(option.code() == 127);
    REQUIRE(
        option.err ==
        "gpuspy-run: cannot run snapshot: No such file or directory; gpuspy-run snapshot has its options behind its "
        "name: gpuspy-run snapshot --help\n");
    const Ended directory = launch.run({"--", "/"});
    REQUIRE(directory.code() == 126);
    REQUIRE(directory.err == "gpuspy-run: cannot run /: Permission denied\n");
}

TEST_CASE("what gpuspy-run itself cannot do is 125, and the command does not run") {
    Launch launch;
    std::string message;
    Arguments arguments = {"--", "/bin/sh", "-c", "echo it ran"};
    SECTION("no command") {
        arguments = {"--report"};
        message = "gpuspy-run: no command to run; see gpuspy-run --help\n";
    }
    SECTION("an option that does not exist") {
        arguments.insert(arguments.begin(), "--outptu=x");
        message = "gpuspy-run: unknown option --outptu=x; see gpuspy-run --help\n";
    }
    SECTION("a value that makes no sense") {
        arguments.insert(arguments.begin(), "--device-timing=maybe");
        message = "gpuspy-run: --device-timing: maybe not in {0,1}; see gpuspy-run --help\n";
    }
    SECTION("a file without a name") {
        arguments.insert(arguments.begin(), {"-o", ""});
        message = "gpuspy-run: --output: the name of the file is empty; see gpuspy-run --help\n";
    }
    SECTION("standard output, which is the command's") {
        arguments.insert(arguments.begin(), {"-o", "-"});
        message =
            "gpuspy-run: --output: standard output is not for traces; name a file (./- for one that is called -); see "
            "gpuspy-run --help\n";
    }
    SECTION("standard output by the environment") {
        launch.environment = {{"GPUSPY_OUTPUT", "-"}};
        message =
            "gpuspy-run: GPUSPY_OUTPUT: standard output is not for traces; name a file (./- for one that is called "
            "-)\n";
    }
    SECTION("nothing to keep") {
        arguments.insert(arguments.begin(), {"--last", ""});
        message = "gpuspy-run: --last: its value is empty; see gpuspy-run --help\n";
    }
    SECTION("an output that is a link") {
        std::filesystem::create_symlink("elsewhere", launch.folder.file("trace.bin"));
        message = "gpuspy-run: cannot write " + launch.folder.file("trace.bin") +
                  ": it is a symbolic link; name the file that it leads to (elsewhere) with -o\n";
    }
    SECTION("an output where another's file stands") {
        write_text(launch.folder.file("trace.bin"), "dear");
        message = "gpuspy-run: cannot write " + launch.folder.file("trace.bin") +
                  ": a file that is not a trace stands there; remove it or use -o FILE\n";
    }
    SECTION("an output that cannot be written") {
        arguments.insert(arguments.begin(), {"-o", "none/trace.bin"});
        const std::string folder = launch.folder.path();
        message = "gpuspy-run: cannot write " + folder + "/none/trace.bin: there is no directory " + folder +
                  "/none; create it or use -o FILE\n";
    }
    SECTION("no library") {
        std::filesystem::create_directory(launch.folder.file("bin"));
        std::filesystem::copy(launch.program, launch.folder.file("bin/gpuspy-run"));
        launch.program = launch.folder.file("bin/gpuspy-run");
        const std::string bin = launch.folder.file("bin");
        const std::string lib = launch.folder.file("lib");
        message = "gpuspy-run: libgpuspy.so is in none of " + lib + ", " + lib + "/x86_64-linux-gnu, " + lib + "64, " +
                  lib + "/gpuspy, " + bin + "/; install gpuspy whole\n";
    }
    SECTION("no report program") {
        std::filesystem::copy(launch.program, launch.folder.file("gpuspy-run"));
        std::filesystem::copy(kInstallation + "/lib/libgpuspy.so", launch.folder.file("libgpuspy.so"));
        launch.program = launch.folder.file("gpuspy-run");
        arguments.insert(arguments.begin(), "--report");
        message = "gpuspy-run: gpuspy-report is not in " + launch.folder.path() +
                  "; leave --report out or install gpuspy whole\n";
    }
    const Ended ended = launch.run(arguments);
    REQUIRE(ended.code() == 125);
    REQUIRE(ended.out.empty());
    REQUIRE(ended.err == message);
}

TEST_CASE("the library is preloaded and told where to write") {
    Launch launch;
    launch.environment = {{"LD_PRELOAD", "/nonexistent.so"}};
    const std::string print =
        "echo $LD_PRELOAD; echo $GPUSPY_OUTPUT; echo ${GPUSPY_DEVICE_TIMING-unset}; "
        "test -n \"$GPUSPY_RUN_ID\" && echo id";
    const std::string library = kInstallation + "/lib/libgpuspy.so";
    const std::string folder = launch.folder.path();
    REQUIRE(launch.shell(print).out == library + ":/nonexistent.so\n" + folder + "/trace.bin\nunset\nid\n");
    REQUIRE(launch.run({"--device-timing", "0", "-o", "x.bin", "--", "/bin/sh", "-c", print}).out ==
            library + ":/nonexistent.so\n" + folder + "/x.bin\n0\nid\n");
    launch.environment.emplace_back("GPUSPY_OUTPUT", "/tmp/from-environment.bin");
    REQUIRE(launch.shell(print).out == library + ":/nonexistent.so\n/tmp/from-environment.bin\nunset\nid\n");
}

TEST_CASE("a recorded command: its trace says how it ended") {
    Launch launch;
    launch.environment = {{"FAKE_RECORD", "clean"}};
    const Ended ended = launch.shell("exit 3");
    REQUIRE(ended.code() == 3);
    REQUIRE(names_of(ended.err) == "gpuspy-run: wrote trace.bin\n");
    const TraceDump dump = dump_file(launch.folder.file("trace.bin"));
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("call").size() == 1);
    REQUIRE(dump.of("end") == Arguments{"end kind 0 detail 0", "end kind 1 detail 768"});
}

TEST_CASE("a command that was killed: what was in its rings is in its trace, and no ring is left") {
    Launch launch;
    launch.environment = {{"FAKE_RECORD", "killed"}};
    const Ended ended = launch.shell("echo $$; kill -KILL $$");
    REQUIRE(ended.code() == 137);
    REQUIRE(names_of(ended.err) == "gpuspy-run: wrote trace.bin\n");
    const TraceDump dump = dump_file(launch.folder.file("trace.bin"));
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("call").size() == 1);
    REQUIRE(dump.of("end") == Arguments{"end kind 2 detail 0", "end kind 1 detail 9"});
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
        REQUIRE(entry.path().string().find("gpuspy." + std::to_string(std::stoi(ended.out)) + ".") ==
                std::string::npos);
    }
}

TEST_CASE("the option --report prints the report of every trace of the run, the first process's first") {
    Launch launch;
    launch.environment = {{"FAKE_RECORD", "clean"}};
    const Ended ended = launch.run(
        {"--report", "-o", "t.bin", "--", "/bin/sh", "-c", "FAKE_RECORD=clean /bin/sh -c 'echo $$'; exit 5"});
    REQUIRE(ended.code() == 5);
    const std::string pid = ended.out.substr(0, ended.out.find('\n'));
    const std::string folder = launch.folder.path();
    REQUIRE(ended.out == pid + "\nreport of " + folder + "/t.bin\nreport of " + folder + "/t." + pid + ".bin\n");
    REQUIRE(names_of(ended.err) == "gpuspy-run: wrote t.bin, t." + pid + ".bin\n");
}

TEST_CASE("the line that names the traces: the folder, the size, and silence when that is asked for") {
    Launch launch;
    launch.environment = {{"FAKE_RECORD", "clean"}};
    const TempFolder elsewhere;
    const std::string path = elsewhere.file("t.bin");
    const Ended ended = launch.run({"-o", path, "--", "/bin/true"});
    REQUIRE(ended.err == "gpuspy-run: wrote " + path + " (" + size_text(path) + ")\n");
    for (const char* option : {"-q", "--quiet"}) {
        REQUIRE(launch.run({option, "-o", path, "--", "/bin/true"}).err.empty());
    }
}

TEST_CASE("with more than four traces the others are counted") {
    const TempFolder folder;
    std::vector<std::string> traces;
    for (const std::uintmax_t bytes : {0, 1023, 1024, 1024 * 1024, 10, 10}) {
        traces.push_back(folder.file("t" + std::to_string(traces.size()) + ".bin"));
        std::ofstream(traces.back()).close();
        std::filesystem::resize_file(traces.back(), bytes);
    }
    REQUIRE(gpuspy::run::describe_traces(traces, folder.path()) ==
            "wrote t0.bin (0 B), t1.bin (1023 B), t2.bin (1.0 KiB), t3.bin (1.0 MiB) and 2 more beside them");
}

TEST_CASE("GPUSPY_DISABLE=1 is told, and the command runs") {
    Launch launch;
    launch.environment = {{"GPUSPY_DISABLE", "1"}};
    const Ended ended = launch.shell("exit 4");
    REQUIRE(ended.code() == 4);
    REQUIRE(ended.err == "gpuspy-run: GPUSPY_DISABLE=1 is set: nothing is recorded; unset it to record\n");
    launch.environment = {{"GPUSPY_DISABLE", "0"}};
    REQUIRE(launch.shell("exit 4").err == kNoCuda);
}

TEST_CASE("a command that cannot be recorded: the reason is told, and the command runs") {
    Launch launch;
    const Ended ended = launch.run({"--", STATIC_PROGRAM});
    REQUIRE(ended.code() == 3);
    REQUIRE(ended.err == std::string("gpuspy-run: no trace was written: ") + STATIC_PROGRAM +
                             " is linked statically: no loader preloads libgpuspy.so into it; link it dynamically\n");
}

TEST_CASE("a program of another C library, which cannot link our library, gets none") {
    Launch launch;
    // By its loader's name; in truth it is glibc's, so that it runs everywhere.
    std::filesystem::remove(MUSL_LOADER);
    std::filesystem::create_symlink("/lib64/ld-linux-x86-64.so.2", MUSL_LOADER);
    const Ended ended = launch.run({"--", MUSL_PROGRAM});
    std::filesystem::remove(MUSL_LOADER);
    REQUIRE(ended.code() == 0);
    REQUIRE(ended.out == "preload: none\n");
    REQUIRE(ended.err == std::string("gpuspy-run: no trace was written: ") + MUSL_PROGRAM +
                             " is linked against musl, and libgpuspy.so needs glibc; build it for glibc\n");
}

TEST_CASE("options that exclude each other, or a command, are told") {
    Launch launch;
    REQUIRE(launch.run({"--check", "/bin/true", "--", "/bin/echo"}).err ==
            "gpuspy-run: --check takes one program and runs nothing: leave the command out; see gpuspy-run --help\n");
    const Ended ended = launch.run({"--follow", "--no-children", "--", "/bin/echo"});
    REQUIRE(ended.code() == 125);
    REQUIRE(ended.err == "gpuspy-run: --follow and --no-children exclude each other; see gpuspy-run --help\n");
}

TEST_CASE("another run's trace in the folder is not touched") {
    Launch launch;
    { const TestWriter other(launch.folder.file("trace.other.bin"), 5, 123); }
    const auto before = read_bytes(launch.folder.file("trace.other.bin"));
    launch.environment = {{"FAKE_RECORD", "clean"}};
    REQUIRE(launch.shell("true").code() == 0);
    REQUIRE(read_bytes(launch.folder.file("trace.other.bin")) == before);
}

TEST_CASE("a device as output is no reason to complain") {
    Launch launch;
    REQUIRE(launch.run({"-o", "/dev/null", "--", "/bin/true"}).err.empty());
}

TEST_CASE("signals that are sent to gpuspy-run reach the command") {
    const auto [signal, name] = GENERATE(table<int, std::string>({{SIGTERM, "TERM"},
                                                                  {SIGHUP, "HUP"},
                                                                  {SIGINT, "INT"},
                                                                  {SIGQUIT, "QUIT"},
                                                                  {SIGUSR1, "USR1"},
                                                                  {SIGUSR2, "USR2"}}));
    CAPTURE(name);
    Launch launch;
    const pid_t pid = launch.start(
        {"--", "/bin/sh", "-c", "trap 'echo got; exit 9' " + name + "; echo ready; while :; do sleep 0.01; done"});
    REQUIRE(launch.read_line() == "ready");
    REQUIRE(kill(pid, signal) == 0);
    const Ended ended = launch.finish();
    REQUIRE(ended.code() == 9);
    REQUIRE(ended.out == "got\n");
}

TEST_CASE("a signal that the command does not catch ends it, and that is told") {
    Launch launch;
    const pid_t pid = launch.start({"--", "/bin/sh", "-c", "echo ready; while :; do sleep 0.01; done"});
    REQUIRE(launch.read_line() == "ready");
    REQUIRE(kill(pid, SIGTERM) == 0);
    REQUIRE(launch.finish().code() == 128 + SIGTERM);
}

TEST_CASE("a signal that the command sends to its parent does not come back to it") {
    Launch launch;
    const Ended ended = launch.shell("trap 'exit 9' USR1; kill -USR1 $PPID; kill -USR1 $PPID; sleep 0.05; exit 4");
    REQUIRE(ended.code() == 4);
}

TEST_CASE("the command finds signals as gpuspy-run found them") {
    Launch launch;
    SECTION("nothing is blocked or ignored that was not") {
        // Not by way of a shell: while it starts a child, it has all its signals blocked itself.
        REQUIRE(launch.run({"--", "/bin/grep", "-E", "SigBlk|SigIgn", "/proc/self/status"}).out ==
                "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    }
    SECTION("what was ignored stays so, children's ends too") {
        launch.before_exec = [] {
            signal(SIGHUP, SIG_IGN);
            signal(SIGCHLD, SIG_IGN);
        };
        const Ended ended = launch.run({"--", "/bin/grep", "SigIgn", "/proc/self/status"});
        REQUIRE(ended.code() == 0);
        REQUIRE(ended.out == "SigIgn:\t0000000000010001\n");
    }
}

TEST_CASE("a command that is stopped and continued goes on") {
    Launch launch;
    launch.start({"--", "/bin/sh", "-c", "echo $$; kill -STOP $$; echo on; exit 6"});
    const pid_t child = std::stoi(launch.read_line());
    REQUIRE(wait_for_state(child, 'T'));
    REQUIRE(kill(child, SIGCONT) == 0);
    const Ended ended = launch.finish();
    REQUIRE(ended.code() == 6);
    REQUIRE(ended.out == "on\n");
}

#include "collector/sink/output_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <set>

#include "collector/sink/drain.hpp"
#include "tests/unit/sink/fixtures.hpp"
#include "tests/unit/sink/trace_dump.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

struct Opened {
    sink::Output output;
    int error = 0;

    Opened(const std::string& path, std::uint32_t pid, std::uint64_t run_id = 0) {
        sink::OutputRequest request;
        request.path = path.c_str();
        request.pid = pid;
        request.run_id = run_id;
        error = sink::open_output(request, &output);
    }
    ~Opened() {
        if (output.fd >= 0) {
            close(output.fd);
        }
    }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    [[nodiscard]] std::string path() const { return output.path; }
    [[nodiscard]] std::string message() const { return output.message; }
};

/// A trace of an earlier recording, closed.
void leave_trace(const std::string& path, std::uint64_t run_id = 0, std::uint64_t nonce = 1) {
    const TestWriter writer(path, nonce, run_id);
}

std::set<std::string> names_in(const TempFolder& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        names.insert(entry.path().filename().string());
    }
    return names;
}

using Names = std::set<std::string>;

/// Another process that records to `path` for as long as this lives.
class Recorder {
public:
    explicit Recorder(const std::string& path) {
        int ready[2];
        REQUIRE(pipe(ready) == 0);
        child_ = fork();
        if (child_ == 0) {
            const Opened opened(path, 1);
            const char result = opened.error == 0 ? 'y' : 'n';
            [[maybe_unused]] const ssize_t told = write(ready[1], &result, 1);
            pause();
            _exit(0);
        }
        char result = 'n';
        REQUIRE(read(ready[0], &result, 1) == 1);
        REQUIRE(result == 'y');
        close(ready[0]);
        close(ready[1]);
    }
    ~Recorder() {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

private:
    pid_t child_;
};

}  // namespace

TEST_CASE("a free path is taken, private and locked") {
    TempFolder folder;
    const Opened opened(folder.file("trace.bin"), 7);
    REQUIRE(opened.error == 0);
    REQUIRE(opened.path() == folder.file("trace.bin"));
    REQUIRE(opened.output.is_regular);
    REQUIRE(names_in(folder) == Names{"trace.bin"});
    struct stat status;
    REQUIRE(fstat(opened.output.fd, &status) == 0);
    REQUIRE((status.st_mode & 07777) == 0600);
    REQUIRE((fcntl(opened.output.fd, F_GETFD) & FD_CLOEXEC) != 0);
    REQUIRE(opened.output.fd >= 50);  // Out of the way of the host's numbers.
    const pid_t child = fork();
    if (child == 0) {
        const Opened second(folder.file("trace.bin"), 8);
        _exit(second.error == 0 && second.path() == folder.file("trace.8.bin") ? 0 : 1);
    }
    int result = 0;
    REQUIRE(waitpid(child, &result, 0) == child);
    REQUIRE(result == 0);
}

TEST_CASE("a path that another process records to gives a name with the pid") {
    TempFolder folder;
    std::string name;
    std::string expected;
    SECTION("before the extension") {
        name = "trace.bin";
        expected = "trace.7.bin";
    }
    SECTION("at the end without one") {
        name = "trace";
        expected = "trace.7";
    }
    SECTION("a leading dot is no extension") {
        name = ".trace";
        expected = ".trace.7";
    }
    const Recorder first(folder.file(name));
    const Opened second(folder.file(name), 7);
    REQUIRE(second.error == 0);
    REQUIRE(second.path() == folder.file(expected));
    REQUIRE(names_in(folder) == Names{name, expected});
}

TEST_CASE("a process of the same run gets a name with its pid, whether the first still records or not") {
    TempFolder folder;
    leave_trace(folder.file("trace.bin"), 99);
    const Opened second(folder.file("trace.bin"), 7, 99);
    REQUIRE(second.path() == folder.file("trace.7.bin"));
    leave_trace(folder.file("trace.8.bin"), 99);
    const Opened same_pid_again(folder.file("trace.bin"), 8, 99);  // It replaced itself by exec.
    REQUIRE(same_pid_again.path() == folder.file("trace.8.1.bin"));
    REQUIRE(names_in(folder) == Names{"trace.bin", "trace.7.bin", "trace.8.bin", "trace.8.1.bin"});
}

TEST_CASE("an older trace moves away, to the first free name") {
    TempFolder folder;
    const std::string path = folder.file("trace.bin");
    const std::uint64_t run_id = GENERATE(std::uint64_t{0}, std::uint64_t{5});
    for (int i = 0; i < 3; ++i) {
        leave_trace(path, run_id, static_cast<std::uint64_t>(i) + 1);
        const auto older = read_bytes(path);
        const Opened opened(path, 7, run_id == 0 ? 0 : 6);
        REQUIRE(opened.error == 0);
        REQUIRE(opened.path() == path);
        REQUIRE(read_bytes(path).empty());
        const std::string moved = i == 0 ? path + ".old" : path + ".old." + std::to_string(i);
        REQUIRE(read_bytes(moved) == older);
        REQUIRE(unlink(path.c_str()) == 0);
    }
    REQUIRE(names_in(folder) == Names{"trace.bin.old", "trace.bin.old.1", "trace.bin.old.2"});
}

TEST_CASE("an older trace whose owner died gets its last events before it moves") {
    TempFolder folder;
    const std::string path = folder.file("trace.bin");
    const pid_t child = fork();
    if (child == 0) {
        TestRings rings(path, 11);
        sink::ProcessInfo process = small_process();
        process.pid = static_cast<std::uint32_t>(getpid());
        sink::TraceWriter writer;
        const auto header = header_bytes(rings.set.header()->nonce, process);
        sink::Drain drain;
        if (writer.init(sink::Drain::kBlockBytes) != 0 || writer.create(path.c_str()) != 0 ||
            writer.write_header(header.data(), header.size()) != 0 || drain.init(rings.set, writer, {}, {}) != 0) {
            _exit(1);
        }
        CallBuilder(0, 1, 2).put(rings.set.claim(5, 1), 16384);
        _exit(0);  // No destructor: the ring stays.
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    const Opened opened(path, 7);
    REQUIRE(opened.path() == path);
    REQUIRE(dump_file(path + ".old").of("call").size() == 1);
    REQUIRE(dump_file(path + ".old").of("end") == std::vector<std::string>{"end kind 2 detail 0"});
}

TEST_CASE("an empty file that nobody holds is used") {
    TempFolder folder;
    write_text(folder.file("trace.bin"), "");
    const Opened opened(folder.file("trace.bin"), 7);
    REQUIRE(opened.error == 0);
    REQUIRE(opened.path() == folder.file("trace.bin"));
    REQUIRE(names_in(folder) == Names{"trace.bin"});
}

TEST_CASE("what is left of a process that died while it opened its file is no hindrance") {
    TempFolder folder;
    write_text(folder.file("trace.bin.7.part"), "");
    const Opened opened(folder.file("trace.bin"), 7);
    REQUIRE(opened.error == 0);
    REQUIRE(std::filesystem::exists(folder.file("trace.bin")));
}

TEST_CASE("a file that is not a trace is neither written nor moved") {
    TempFolder folder;
    const std::string path = folder.file("notes.txt");
    write_text(path, "my notes");
    const Opened opened(path, 7);
    REQUIRE(opened.error == EEXIST);
    REQUIRE(opened.message() == "cannot write the trace " + path +
                                    ": a file that is not a trace stands there; remove it or set GPUSPY_OUTPUT");
    REQUIRE(read_bytes(path).size() == 8);
    REQUIRE(names_in(folder) == Names{"notes.txt"});
}

TEST_CASE("what cannot be written says why and what to do") {
    TempFolder folder;
    std::string path = folder.file("trace.bin");
    int error = 0;
    std::string why;
    SECTION("a directory") {
        path = folder.path();
        error = EISDIR;
        why = "it is a directory; name a file in GPUSPY_OUTPUT";
    }
    SECTION("no parent") {
        path = folder.file("none/trace.bin");
        error = ENOENT;
        why = "its directory does not exist; create it or set GPUSPY_OUTPUT";
    }
    SECTION("a file for a parent") {
        write_text(folder.file("file"), "x");
        path = folder.file("file/trace.bin");
        error = ENOTDIR;
        why = "part of the path is not a directory; set GPUSPY_OUTPUT";
    }
    SECTION("a symbolic link") {
        REQUIRE(symlink("elsewhere", path.c_str()) == 0);
        error = ELOOP;
        why = "it is a symbolic link; name the file that it leads to in GPUSPY_OUTPUT";
    }
    SECTION("a pipe that nobody reads") {
        REQUIRE(mkfifo(path.c_str(), 0600) == 0);
        error = ENXIO;
        why = "nothing reads the pipe; start its reader first";
    }
    SECTION("a path beyond all length") {
        path = folder.file(std::string(2000, 'x'));
        error = ENAMETOOLONG;
        why = "the path is too long; set GPUSPY_OUTPUT to a shorter one";
    }
    const Opened opened(path, 7);
    REQUIRE(opened.error == error);
    REQUIRE(opened.output.fd == -1);
    REQUIRE(opened.message() ==
            ("cannot write the trace " + path + ": " + why).substr(0, sizeof opened.output.message - 1));
}

TEST_CASE("a folder that may not be written says so") {
    TempFolder folder;
    // In a child, since it gives up root's rights.
    const pid_t child = fork();
    if (child == 0) {
        if (chmod(folder.path().c_str(), 0555) != 0 || (geteuid() == 0 && seteuid(65534) != 0)) {
            _exit(2);
        }
        const Opened opened(folder.file("trace.bin"), 7);
        const std::string expected = "cannot write the trace " + folder.file("trace.bin") +
                                     ": permission denied; set GPUSPY_OUTPUT to a place that can be written";
        _exit(opened.error == EACCES && opened.message() == expected ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
}

TEST_CASE("pipes and devices are opened as they are") {
    SECTION("a device") {
        const Opened opened("/dev/null", 7);
        REQUIRE(opened.error == 0);
        REQUIRE_FALSE(opened.output.is_regular);
        REQUIRE(opened.path() == "/dev/null");
    }
    SECTION("a pipe with a reader") {
        TempFolder folder;
        REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
        const int reader = open(folder.file("pipe").c_str(), O_RDONLY | O_NONBLOCK);
        const Opened opened(folder.file("pipe"), 7);
        REQUIRE(opened.error == 0);
        REQUIRE_FALSE(opened.output.is_regular);
        close(reader);
    }
}

TEST_CASE("processes that start together get files of their own, and an older trace moves once") {
    TempFolder folder;
    const std::string path = folder.file("trace.bin");
    leave_trace(path, 1);
    constexpr int kProcesses = 12;
    int start[2];
    int hold[2];
    int ready[2];
    REQUIRE(pipe(start) == 0);
    REQUIRE(pipe(hold) == 0);
    REQUIRE(pipe(ready) == 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            close(start[1]);
            close(hold[1]);
            char none;
            [[maybe_unused]] ssize_t got = read(start[0], &none, 1);  // Ends when the parent closes its end.
            const Opened opened(path, static_cast<std::uint32_t>(getpid()), 2);
            const char result = opened.error == 0 ? 'y' : 'n';
            got = write(ready[1], &result, 1);
            got = read(hold[0], &none, 1);
            _exit(0);
        }
        children.push_back(child);
    }
    close(start[1]);
    for (int i = 0; i < kProcesses; ++i) {
        char result = 'n';
        REQUIRE(read(ready[0], &result, 1) == 1);
        REQUIRE(result == 'y');
    }
    const Names names = names_in(folder);
    close(hold[1]);
    for (const pid_t child : children) {
        REQUIRE(waitpid(child, nullptr, 0) == child);
    }
    for (const int fd : {start[0], hold[0], ready[0], ready[1]}) {
        close(fd);
    }
    REQUIRE(names.count("trace.bin.old") == 1);
    REQUIRE(names.count("trace.bin.old.1") == 0);
    REQUIRE(names.count("trace.bin") == 1);
    REQUIRE(names.size() == kProcesses + 1);
}

// How far a reading is, as a terminal gets it: standard error is a pseudo-terminal here.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "analysis/report/progress.hpp"
#include "analysis/report/trace_file.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using report::Progress;
using report::ProgressTiming;
using std::chrono::hours;
using std::chrono::milliseconds;

namespace {

constexpr ProgressTiming kAtOnce{milliseconds{0}, milliseconds{0}};
constexpr ProgressTiming kOnce{milliseconds{0}, hours{1}};
constexpr ProgressTiming kLater{hours{1}, milliseconds{0}};
constexpr const char* kWipe = "\r\x1b[K";

/// Standard error is `descriptor` as long as this lives.
class StandardError {
public:
    explicit StandardError(int descriptor) : before_(::dup(STDERR_FILENO)) {
        std::fflush(stderr);
        ::dup2(descriptor, STDERR_FILENO);
    }
    ~StandardError() {
        std::fflush(stderr);
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
    }
    StandardError(const StandardError&) = delete;
    StandardError& operator=(const StandardError&) = delete;

private:
    int before_;
};

/// What a terminal got while `work` ran. A few lines: they fit into the terminal's buffer.
template <class Work>
std::string seen_by_terminal(const Work& work) {
    int ours = -1;
    int theirs = -1;
    REQUIRE(::openpty(&ours, &theirs, nullptr, nullptr, nullptr) == 0);
    {
        const StandardError redirected(theirs);
        work();
    }
    ::fcntl(ours, F_SETFL, O_NONBLOCK);
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t count = 0; (count = ::read(ours, buffer.data(), buffer.size())) > 0;) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    ::close(theirs);
    ::close(ours);
    return text;
}

std::string line(const std::string& text) {
    return kWipe + text;
}

/// A trace of three blocks, removed in the end.
class TraceOnDisk {
public:
    TraceOnDisk() {
        const int descriptor = ::mkstemp(path_.data());
        REQUIRE(descriptor >= 0);
        ::close(descriptor);
        test::TraceBuilder trace = test::varied_trace();
        const std::string bytes = trace.bytes();
        std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    ~TraceOnDisk() { ::unlink(path_.c_str()); }
    TraceOnDisk(const TraceOnDisk&) = delete;
    TraceOnDisk& operator=(const TraceOnDisk&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_ = "/tmp/gpuspy-progress-XXXXXX";
};

}  // namespace

TEST_CASE("progress: a line that is written over, and wiped in the end") {
    const std::string seen = seen_by_terminal([] {
        Progress progress("trace.bin", kAtOnce);
        progress.tell(1, 4);
        progress.tell(4, 4);
    });
    CHECK(seen == line("reading trace.bin: 25 %") + line("reading trace.bin: 100 %") + kWipe);
}

TEST_CASE("progress: not before its time, and not again before it has passed") {
    const auto tell_twice = [](const ProgressTiming& timing) {
        return seen_by_terminal([&] {
            Progress progress("trace.bin", timing);
            progress.tell(1, 4);
            progress.tell(2, 4);
        });
    };
    CHECK(tell_twice(kLater).empty());  // Nothing to wipe either.
    CHECK(tell_twice(kOnce) == line("reading trace.bin: 25 %") + kWipe);
    CHECK(ProgressTiming{}.first == milliseconds{1000});
}

TEST_CASE("progress: a hostile path stays on its line, and what has no length says nothing") {
    const std::string seen = seen_by_terminal([] {
        Progress progress("a\x1b[2Jb\n" + std::string(100, 'c'), kAtOnce);
        progress.tell(0, 0);
        progress.tell(1, 2);
    });
    REQUIRE(seen.size() > 8);
    CHECK(seen.find("\x1b[2J") == std::string::npos);
    CHECK(seen.find('\n') == std::string::npos);
    CHECK(seen.find(": 50 %") != std::string::npos);
    CHECK(seen.size() < 120);
}

TEST_CASE("progress: nothing where standard error is no terminal") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    {
        const StandardError redirected(ends[1]);
        Progress progress("trace.bin", kAtOnce);
        progress.tell(1, 4);
    }
    ::close(ends[1]);
    char byte = 0;
    CHECK(::read(ends[0], &byte, 1) == 0);
    ::close(ends[0]);
}

TEST_CASE("progress: the reading of a trace says how far it is") {
    const TraceOnDisk trace;
    const auto read = [&](const ProgressTiming& timing) {
        return seen_by_terminal([&] {
            int status = 0;
            CHECK(report::load(trace.path(), report::WithTimeline::kYes, status, timing) != nullptr);
        });
    };
    const std::string seen = read(kAtOnce);
    CHECK(seen.find(line("reading " + trace.path() + ": ")) == 0);
    CHECK(seen.find(": 100 %") != std::string::npos);
    CHECK(seen.ends_with(std::string("%") + kWipe));
    CHECK(read(kLater).empty());
}

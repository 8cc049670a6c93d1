#include "collector/sink/trace_writer.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "tests/unit/sink/fixtures.hpp"
#include "tests/unit/sink/trace_dump.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

/// A block with one notice whose text is `text`.
struct NoticeBlock {
    TestEncoder encoder;
    sink::Block block;
    explicit NoticeBlock(const std::string& text, std::uint32_t segment = 0) {
        encoder->begin_segment(segment);
        REQUIRE(encoder->notice(1, text.c_str()));
        block = encoder->finish_block();
    }
};

std::string noise(std::size_t count) {
    std::string text(count, '\0');
    std::uint64_t state = 88172645463325252ULL;
    for (char& c : text) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        c = static_cast<char>(state % 255 + 1);
    }
    return text;
}

struct Failures {
    int count = 0;
    int error = 0;
    sink::WriteFault fault = sink::WriteFault::kNextPart;
    static void note(void* self, int error, sink::WriteFault fault) noexcept {
        auto* failures = static_cast<Failures*>(self);
        ++failures->count;
        failures->error = error;
        failures->fault = fault;
    }
};

std::uint64_t file_size(const std::string& path) {
    return std::filesystem::file_size(path);
}

/// Runs `check` in a child, where limits and mounts may be changed; it returns 0 or the number of what failed.
template <class Check>
int in_child(Check&& check) {
    const pid_t child = fork();
    if (child == 0) {
        _exit(check());
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a payload is compressed when that makes it smaller, else stored") {
    TempFolder folder;
    const std::string path = folder.file("trace.bin");
    TestWriter test(path);
    const std::uint64_t header = test.writer.file_bytes();
    NoticeBlock same(std::string(10'000, 'x'));
    REQUIRE(test.writer.append_block(same.block, 17) == 0);
    const std::uint64_t first = test.writer.file_bytes() - header;
    REQUIRE(first < 200);
    NoticeBlock random(noise(1000), 1);
    REQUIRE(test.writer.append_block(random.block, 18) == 0);
    REQUIRE(test.writer.file_bytes() - header - first == sizeof(abi::BlockHeader) + random.block.raw_bytes);
    REQUIRE(file_size(path) == test.writer.file_bytes());

    const auto bytes = read_bytes(path);
    abi::BlockHeader block;
    std::memcpy(&block, bytes.data() + header, sizeof block);
    REQUIRE(block.magic == abi::kBlockMagic);
    REQUIRE(block.flags == (abi::kBlockSegmentStart | abi::kBlockColumns));
    REQUIRE(block.raw_bytes == same.block.raw_bytes);
    REQUIRE(block.stored_bytes == first - sizeof block);
    REQUIRE(block.ticks == 17);
    std::memcpy(&block, bytes.data() + header + first, sizeof block);
    REQUIRE(block.flags == (abi::kBlockSegmentStart | abi::kBlockStored));

    const TraceDump dump = dump_file(path);
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("notice") ==
            std::vector<std::string>{"notice " + std::string(10'000, 'x'), "notice " + noise(1000)});
}

TEST_CASE("a trace is private to its user, and an existing file is never opened") {
    TempFolder folder;
    const std::string path = folder.file("trace.bin");
    TestWriter test(path);
    struct stat status;
    REQUIRE(stat(path.c_str(), &status) == 0);
    REQUIRE((status.st_mode & 07777) == 0600);
    sink::TraceWriter second;
    REQUIRE(second.create(path.c_str()) == EEXIST);
    REQUIRE(symlink("nowhere", folder.file("link").c_str()) == 0);
    REQUIRE(second.create(folder.file("link").c_str()) == EEXIST);
}

TEST_CASE("a file size limit fails the block and not the process") {
    TempFolder folder;
    const std::string path = folder.file("trace.bin");
    const std::string text = noise(4000);
    const int failed = in_child([&] {
        TestWriter test(path);
        NoticeBlock block(text);
        if (test.writer.append_block(block.block, 1) != 0) {
            return 1;
        }
        const std::uint64_t whole = test.writer.file_bytes();
        const rlimit small{whole + 1000, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &small);
        if (test.writer.append_block(block.block, 1) != EFBIG || test.writer.file_bytes() != whole ||
            test.writer.failed_bytes() != block.block.raw_bytes || file_size(path) != whole) {
            return 2;
        }
        const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &none);
        return test.writer.is_usable() && test.writer.append_block(block.block, 1) == 0 ? 0 : 3;
    });
    REQUIRE(failed == 0);
    const TraceDump dump = dump_file(path);
    REQUIRE(dump.of("notice").size() == 2);
}

TEST_CASE("a full file system leaves whole blocks, and later ones are written when there is room") {
    TempFolder folder;
    const int failed = in_child([&] {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
            return 77;
        }
        const std::string path = folder.file("trace.bin");
        const std::string filler = folder.file("filler");
        write_text(filler, std::string(32 << 10, 'f'));
        TestWriter test(path);
        NoticeBlock block(noise(10'000));
        int written = 0;
        while (written < 10 && test.writer.append_block(block.block, 1) == 0) {
            ++written;
        }
        const std::uint64_t whole = test.writer.file_bytes();
        if (written == 0 || written == 10 || file_size(path) != whole) {
            return 1;
        }
        if (test.writer.failed_bytes() != block.block.raw_bytes || !test.writer.is_usable()) {
            return 2;
        }
        unlink(filler.c_str());
        if (test.writer.append_block(block.block, 1) != 0) {
            return 3;
        }
        const TraceDump dump = dump_file(path);
        return dump.of("notice").size() == static_cast<std::size_t>(written) + 1 ? 0 : 4;
    });
    if (failed == 77) {
        WARN("no right to mount a tmpfs: not tested");
        return;
    }
    REQUIRE(failed == 0);
}

TEST_CASE("a device that is full is reported once") {
    Failures failures;
    sink::TraceWriter writer;
    REQUIRE(writer.init(1 << 20, Failures::note, &failures) == 0);
    REQUIRE(writer.adopt(open("/dev/full", O_WRONLY), "/dev/full") == 0);
    NoticeBlock block("x");
    REQUIRE(writer.append_block(block.block, 1) == ENOSPC);
    REQUIRE(writer.append_block(block.block, 1) == ENOSPC);
    REQUIRE(failures.count == 1);
    REQUIRE(failures.error == ENOSPC);
    REQUIRE(failures.fault == sink::WriteFault::kWrite);
    REQUIRE(writer.failed_bytes() == 2 * block.block.raw_bytes);
    REQUIRE(writer.file_bytes() == 0);
    writer.close();
}

TEST_CASE("a pipe takes a trace") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    sink::TraceWriter writer;
    REQUIRE(writer.init(1 << 20) == 0);
    REQUIRE(writer.adopt(ends[1], "") == 0);
    const auto header = header_bytes(1, small_process());
    REQUIRE(writer.write_header(header.data(), header.size()) == 0);
    NoticeBlock block("through a pipe");
    REQUIRE(writer.append_block(block.block, 1) == 0);
    writer.close();
    std::vector<std::uint8_t> bytes(65536);
    const ssize_t count = read(ends[0], bytes.data(), bytes.size());
    REQUIRE(count > 0);
    bytes.resize(static_cast<std::size_t>(count));
    close(ends[0]);
    REQUIRE(dump_bytes(bytes).has("notice through a pipe"));
}

TEST_CASE("a pipe without its reader is given up, and no signal is raised") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    Failures failures;
    sink::TraceWriter writer;
    REQUIRE(writer.init(1 << 20, Failures::note, &failures) == 0);
    REQUIRE(writer.adopt(ends[1], "") == 0);
    close(ends[0]);
    NoticeBlock block("x");
    REQUIRE(writer.append_block(block.block, 1) == EPIPE);
    REQUIRE_FALSE(writer.is_usable());
    REQUIRE(writer.append_block(block.block, 1) == EBADF);
    REQUIRE(failures.count == 1);
    REQUIRE(writer.failed_bytes() == 2 * block.block.raw_bytes);
    sigset_t pending;
    REQUIRE(sigpending(&pending) == 0);
    REQUIRE(sigismember(&pending, SIGPIPE) == 0);
    writer.close();
}

TEST_CASE("a pipe whose reader stands still does not block for ever") {
    int ends[2];
    REQUIRE(pipe2(ends, O_NONBLOCK) == 0);
    sink::TraceWriter writer;
    REQUIRE(writer.init(1 << 20) == 0);
    REQUIRE(writer.adopt(ends[1], "") == 0);
    const std::vector<char> fill(1 << 20);
    REQUIRE(write(ends[1], fill.data(), fill.size()) > 0);
    NoticeBlock block("x");
    REQUIRE(writer.append_block(block.block, 1) == ETIMEDOUT);
    REQUIRE(writer.is_usable());
    writer.close();
    close(ends[0]);
}

TEST_CASE("when the host closes our descriptor the file is found again") {
    TempFolder folder;
    const std::string path = folder.file("trace.bin");
    TestWriter test(path);
    close(test.writer.fd());
    NoticeBlock block("after");
    REQUIRE(test.writer.append_block(block.block, 1) == 0);
    // Before the file is read here: closing any descriptor of it in this process gives the lock back.
    REQUIRE(in_child([&] {
                struct flock lock = {};
                lock.l_type = F_WRLCK;
                const int fd = open(path.c_str(), O_RDWR);
                return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? 0 : 1;
            }) == 0);
    REQUIRE(dump_file(path).has("notice after"));
}

TEST_CASE("a file of the host that got our number is left alone") {
    TempFolder folder;
    const std::string path = folder.file("trace.bin");
    TestWriter test(path);
    const int fd = test.writer.fd();
    const int host = open(folder.file("host").c_str(), O_RDWR | O_CREAT, 0600);
    REQUIRE(dup2(host, fd) == fd);
    NoticeBlock block("after");
    SECTION("the trace is still at its path") {
        REQUIRE(test.writer.append_block(block.block, 1) == 0);
        REQUIRE(dump_file(path).has("notice after"));
    }
    SECTION("the trace is gone") {
        REQUIRE(unlink(path.c_str()) == 0);
        REQUIRE(test.writer.append_block(block.block, 1) == ENOENT);
        REQUIRE_FALSE(test.writer.is_usable());
    }
    SECTION("another file is at its path") {
        REQUIRE(unlink(path.c_str()) == 0);
        write_text(path, "mine");
        REQUIRE(test.writer.append_block(block.block, 1) == ESTALE);
        REQUIRE(file_size(path) == 4);
    }
    test.writer.close();
    REQUIRE(file_size(folder.file("host")) == 0);
    REQUIRE(fcntl(fd, F_GETFD) >= 0);
    close(fd);
    close(host);
}

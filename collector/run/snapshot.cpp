#include "collector/run/snapshot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "collector/abi/ring_layout.hpp"
#include "collector/run/environment.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/flight_recorder.hpp"
#include "collector/sink/output_path.hpp"
#include "collector/sink/salvage.hpp"
#include "collector/sink/trace_tail.hpp"

namespace gpuspy::run {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kLongestWait{2};
constexpr std::size_t kCopyBytes = 1U << 20;

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const { return fd_; }
    void close() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
        fd_ = -1;
    }

private:
    int fd_;
};

/// Held by its owner, as far as its lock says.
bool is_held(int fd) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/// The header of a live ring file, mapped.
class LiveRing {
public:
    LiveRing() = default;
    ~LiveRing() {
        if (map_ != nullptr) {
            munmap(map_, sizeof *map_);
        }
    }
    LiveRing(const LiveRing&) = delete;
    LiveRing& operator=(const LiveRing&) = delete;

    /// "" or what is wrong with it.
    std::string open(const std::string& path, pid_t pid) {
        const Descriptor fd(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
        struct stat status {};
        if (fd.get() < 0 || fstat(fd.get(), &status) != 0) {
            return errno == EACCES || errno == EPERM ? fmt::format("process {} is another user's", pid)
                                                     : std::string(std::strerror(errno));
        }
        if (status.st_uid != geteuid()) {
            return fmt::format("process {} is another user's", pid);
        }
        if (!S_ISREG(status.st_mode) || status.st_size < static_cast<off_t>(sizeof *map_) || !is_held(fd.get())) {
            return "no recording holds it";
        }
        void* memory = mmap(nullptr, sizeof *map_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
        if (memory == MAP_FAILED) {
            return std::strerror(errno);
        }
        map_ = static_cast<abi::MapHeader*>(memory);
        if (map_->magic != abi::kMapMagic || map_->layout_version != abi::kRingLayoutVersion) {
            return fmt::format("process {} is recorded by another version of gpuspy: use its gpuspy-run", pid);
        }
        return "";
    }
    abi::MapHeader* operator->() const { return map_; }

private:
    abi::MapHeader* map_ = nullptr;
};

/// The pid that a process has in the namespace of pids that it is in; "": the one that is ours.
std::string pid_in_own_namespace(pid_t pid) {
    std::ifstream status(fmt::format("/proc/{}/status", pid));
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("NSpid:", 0) == 0) {
            std::istringstream words(line.substr(6));
            const std::vector<std::string> pids{std::istream_iterator<std::string>(words), {}};
            return pids.size() > 1 ? pids.back() : "";
        }
    }
    return "";
}

/// Why nothing was found: what is known of the process itself.
std::string explain_no_ring(pid_t pid) {
    if (kill(pid, 0) != 0 && errno == ESRCH) {
        return fmt::format("there is no process {}", pid);
    }
    if (const std::string inner = pid_in_own_namespace(pid); !inner.empty()) {
        return fmt::format(
            "process {} is in a pid namespace of its own (a container), as process {}: run gpuspy-run snapshot {} in "
            "it",
            pid, inner, inner);
    }
    struct stat status {};
    if (stat(fmt::format("/proc/{}", pid).c_str(), &status) == 0 && status.st_uid != geteuid()) {
        return fmt::format("process {} is another user's", pid);
    }
    return fmt::format(
        "process {} is not recorded by gpuspy: it was started without it, has made no CUDA call yet, or found no room "
        "in "
        "/dev/shm",
        pid);
}

std::string find_ring(const std::string& directory, pid_t pid, LiveRing* ring) {
    const std::string prefix = fmt::format("gpuspy.{}.", pid);
    std::string problem = explain_no_ring(pid);
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
        if (entry.path().filename().string().rfind(prefix, 0) != 0) {
            continue;
        }
        const std::string found = ring->open(entry.path().string(), pid);
        if (found.empty()) {
            return "";
        }
        // Left by a dead process that had this pid: not what was asked for.
        problem = found == "no recording holds it" ? problem : found;
    }
    return problem;
}

bool wait_until_written(const LiveRing& ring) {
    const std::uint64_t request = ring->snapshot_request.fetch_add(1, std::memory_order_acq_rel) + 1;
    const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
    // Another's request may be answered together with ours.
    while (ring->snapshot_served.load(std::memory_order_acquire) < request) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

bool read_all(int fd, void* to, std::size_t bytes, std::uint64_t offset) {
    auto* at = static_cast<std::uint8_t*>(to);
    while (bytes != 0) {
        const ssize_t count = pread(fd, at, bytes, static_cast<off_t>(offset));
        if (count <= 0) {
            return false;
        }
        at += count;
        bytes -= static_cast<std::size_t>(count);
        offset += static_cast<std::uint64_t>(count);
    }
    return true;
}

bool write_all(int fd, const void* from, std::size_t bytes) {
    const auto* at = static_cast<const std::uint8_t*>(from);
    while (bytes != 0) {
        const ssize_t count = write(fd, at, bytes);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        at += count;
        bytes -= static_cast<std::size_t>(count);
    }
    return true;
}

/// The trace up to its last whole block. "" or what went wrong.
std::string copy_trace(int from, const sink::TraceIdentity& identity, const sink::TraceTail& tail, int to) {
    std::vector<std::uint8_t> buffer(std::max<std::size_t>(kCopyBytes, identity.header_bytes));
    if (!read_all(from, buffer.data(), identity.header_bytes, 0)) {
        return "its trace cannot be read";
    }
    // Of its own: no ring belongs to a copy, which else would be emptied into it when the process has died.
    sink::mark_as_snapshot(buffer.data(), identity.header_bytes, make_run_id());
    if (!write_all(to, buffer.data(), identity.header_bytes)) {
        return std::strerror(errno);
    }
    for (std::uint64_t at = identity.header_bytes; at < tail.bytes;) {
        const std::size_t count = std::min<std::uint64_t>(kCopyBytes, tail.bytes - at);
        if (!read_all(from, buffer.data(), count, at)) {
            return "its trace cannot be read";
        }
        if (!write_all(to, buffer.data(), count)) {
            return std::strerror(errno);
        }
        at += count;
    }
    return "";
}

}  // namespace

SnapshotResult take_snapshot(const std::string& ring_directory, pid_t pid, const std::string& output) {
    SnapshotResult result;
    LiveRing ring;
    result.problem = find_ring(ring_directory, pid, &ring);
    if (!result.problem.empty()) {
        return result;
    }
    result.trace.assign(ring->trace_path, strnlen(ring->trace_path, sizeof ring->trace_path));
    if (!wait_until_written(ring)) {
        result.problem =
            fmt::format("process {} did not answer within {} s: is it stopped?", pid, kLongestWait.count());
        return result;
    }
    std::error_code ignored;
    if (sink::is_successor_path(result.trace.c_str(), fs::weakly_canonical(output, ignored).c_str())) {
        result.problem = output + " is where a flight recorder writes its next part; name another with -o";
        return result;
    }
    const Descriptor from(open(result.trace.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    sink::TraceIdentity identity;
    if (from.get() < 0 || fstat(from.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        !sink::read_trace_identity(from.get(), &identity) || identity.nonce != ring->nonce) {
        result.problem =
            fmt::format("the trace of process {} is not at {}: it was moved, or is no file", pid, result.trace);
        return result;
    }
    const sink::TraceTail tail =
        sink::find_trace_tail(from.get(), identity.header_bytes, static_cast<std::uint64_t>(status.st_size));
    sink::OutputRequest request;
    request.path = output.c_str();
    request.pid = static_cast<std::uint32_t>(getpid());
    sink::Output opened;
    if (sink::open_output(request, &opened) != 0) {
        result.problem = opened.message;
        // Whose settings are named there are a recording's.
        constexpr std::string_view kSetting = "set GPUSPY_OUTPUT";
        if (const std::size_t at = result.problem.find(kSetting); at != std::string::npos) {
            result.problem.replace(at, kSetting.size(), "name another with -o");
        }
        return result;
    }
    Descriptor to(opened.fd);
    result.path = opened.path;
    std::string problem = copy_trace(from.get(), identity, tail, to.get());
    to.close();
    if (problem.empty() && opened.is_regular) {
        const int error = sink::append_snapshot_end(opened.path);
        problem = error == 0 ? "" : std::strerror(error);
    }
    if (!problem.empty()) {
        if (opened.is_regular) {
            unlink(opened.path);
        }
        result.problem = fmt::format("cannot write {}: {}", result.path, problem);
        return result;
    }
    result.bytes = tail.bytes;
    result.blocks = tail.blocks;
    result.seconds = identity.tick_hz == 0
                         ? 0
                         : static_cast<double>(tail.ticks - tail.first_ticks) / static_cast<double>(identity.tick_hz);
    return result;
}

}  // namespace gpuspy::run

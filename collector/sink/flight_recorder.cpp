#include "collector/sink/flight_recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "collector/ring/owned_fd.hpp"
#include "collector/ring/text.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/memory.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::uint64_t kRetryNs = 1'000'000'000;
/// Room for what a block is over its limit, when one long record ended it.
constexpr std::uint64_t kBlockSlackBytes = 64U << 10;

/// A successor's names: another's file may stand at the first of them.
constexpr unsigned kSuccessorNames = 10;

/// `<trace>.next`, `<trace>.next.1` ... `<trace>.next.9`.
bool build_successor_path(const char* trace_path, unsigned number, char* buffer, std::size_t capacity) noexcept {
    ring::TextBuilder path(buffer, capacity);
    path.text(trace_path).text(".next");
    if (number != 0) {
        path.text(".").decimal(number);
    }
    return !path.was_cut();
}

/// A file that stands where a successor shall be: one that a dead process left there, and nothing else, is removed.
int remove_left_behind(const char* path) noexcept {
    const int fd = ring::open_fd(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return errno == ENOENT ? 0 : EEXIST;
    }
    struct stat status;
    TraceIdentity identity;
    const bool is_left = ring::stat_fd(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                         ring::lock_file(fd) == 0 && read_trace_identity(fd, &identity) && identity.exchange != 0 &&
                         !identity.is_snapshot;
    const int error = is_left ? (unlink(path) == 0 ? 0 : errno) : EEXIST;
    ring::close_fd(fd);
    return error;
}

void remove_if_successor(const char* path, const TraceIdentity& trace) noexcept {
    const int fd = ring::open_fd(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return;
    }
    struct stat status;
    TraceIdentity identity;
    const bool is_ours = ring::stat_fd(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
    if (is_ours && read_trace_identity(fd, &identity) && identity.nonce == trace.nonce &&
        identity.exchange == trace.exchange + 1 && ring::lock_file(fd) == 0) {
        unlink(path);
    }
    ring::close_fd(fd);
}

}  // namespace

bool is_successor_path(const char* trace_path, const char* path) noexcept {
    char name[kSuccessorPathBytes];
    for (unsigned number = 0; number < kSuccessorNames; ++number) {
        if (build_successor_path(trace_path, number, name, sizeof name) && std::strcmp(name, path) == 0) {
            return true;
        }
    }
    return false;
}

void remove_successor(const char* trace_path, const TraceIdentity& trace) noexcept {
    char path[kSuccessorPathBytes];
    for (unsigned number = 0; number < kSuccessorNames; ++number) {
        if (build_successor_path(trace_path, number, path, sizeof path)) {
            remove_if_successor(path, trace);
        }
    }
}

int FlightRecorder::init(const KeptLimit& limit, TraceWriter& trace, const std::uint8_t* header, std::size_t count,
                         std::uint64_t now_ns) noexcept {
    if (!trace.is_regular() ||
        !build_successor_path(trace.path(), kSuccessorNames - 1, successor_path_, sizeof successor_path_)) {
        return EINVAL;
    }
    header_ = map_memory<std::uint8_t>(count);
    if (header_ == nullptr) {
        return ENOMEM;
    }
    std::memcpy(header_, header, count);
    header_bytes_ = count;
    limit_ = limit;
    trace_begin_ns_ = now_ns;
    // An exchange comes when less than two blocks more would fit: small ones waste less of the limit.
    const std::uint64_t share = limit.bytes / 64;
    constexpr std::uint64_t kLargest = 1U << 20;
    block_bytes_ = static_cast<std::size_t>(share < kLargest ? share : kLargest);
    trace_ = &trace;
    return 0;
}

bool FlightRecorder::wants_successor(std::uint64_t now_ns) const noexcept {
    if (has_successor() || now_ns < retry_ns_) {
        return false;
    }
    // A third: then both together are at the limit when the successor has a third, and the trace two.
    return trace_->file_bytes() >= limit_.bytes / 3 || (limit_.ns != 0 && now_ns - trace_begin_ns_ >= limit_.ns);
}

int FlightRecorder::begin_successor(std::uint64_t now_ns) noexcept {
    retry_ns_ = now_ns + kRetryNs;
    set_exchange(header_, header_bytes_, exchange_ + 1);
    int error = EEXIST;
    for (unsigned number = 0; error == EEXIST && number < kSuccessorNames; ++number) {
        build_successor_path(trace_->path(), number, successor_path_, sizeof successor_path_);
        error = successor_.create_successor(successor_path_, header_, header_bytes_);
        if (error == EEXIST) {
            error = remove_left_behind(successor_path_);
            error = error != 0 ? error : successor_.create_successor(successor_path_, header_, header_bytes_);
        }
    }
    if (error != 0) {
        error_ = error;
        trace_->complain(error, WriteFault::kNextPart);
        return error;
    }
    successor_begin_ns_ = now_ns;
    return 0;
}

int FlightRecorder::append_to_successor(const Frame& frame) noexcept {
    // What is said again shall not take the room of what is new.
    const bool fits =
        successor_.file_bytes() + frame.count <= limit_.bytes / 6 && bytes_on_disk() + frame.count <= limit_.bytes;
    return fits ? successor_.append(frame) : EFBIG;
}

void FlightRecorder::abandon_successor(int error) noexcept {
    error_ = error;
    if (successor_.fd() >= 0 && !successor_.is_path_taken()) {
        unlink(successor_path_);
    }
    successor_.forget_after_fork();
}

int FlightRecorder::append(const Frame& frame) noexcept {
    if (has_successor() && bytes_on_disk() + 2 * frame.count > limit_.bytes) {
        abandon_successor(EFBIG);
    }
    if (bytes_on_disk() + frame.count > limit_.bytes) {
        trace_->refuse(error_ != 0 ? error_ : EFBIG, frame.raw_bytes);
        return EFBIG;
    }
    const int error = trace_->append(frame);
    if (error == 0 && has_successor()) {
        const int successor_error = successor_.append(frame);
        if (successor_error != 0) {
            abandon_successor(successor_error);
        }
    }
    return error;
}

bool FlightRecorder::wants_exchange(std::uint64_t now_ns) const noexcept {
    return has_successor() && ((limit_.ns != 0 && now_ns - successor_begin_ns_ >= limit_.ns) ||
                               bytes_on_disk() + 2 * (block_bytes_ + kBlockSlackBytes) > limit_.bytes);
}

bool FlightRecorder::make_exchange() noexcept {
    // Somebody may have put a file of his own in the place of either.
    if (successor_.is_path_taken()) {
        abandon_successor(EEXIST);
        retry_ns_ = 0;  // There are other names, and the limit is near.
        return false;
    }
    const int error = trace_->is_path_taken() ? EEXIST : rename(successor_path_, trace_->path()) == 0 ? 0 : errno;
    if (error != 0) {
        abandon_successor(error);
        return false;
    }
    trace_->take_file_of(successor_);
    successor_.forget_after_fork();
    ++exchange_;
    trace_begin_ns_ = successor_begin_ns_;
    retry_ns_ = 0;
    error_ = 0;
    return true;
}

void FlightRecorder::finish() noexcept {
    if (has_successor()) {
        abandon_successor(0);
    }
}

void FlightRecorder::forget_after_fork() noexcept {
    successor_.forget_after_fork();
    unmap_memory(header_, header_bytes_);
    header_ = nullptr;
    header_bytes_ = 0;
    trace_ = nullptr;
    limit_ = {};
    exchange_ = 0;
    trace_begin_ns_ = 0;
    successor_begin_ns_ = 0;
    retry_ns_ = 0;
    error_ = 0;
}

}  // namespace gpuspy::sink

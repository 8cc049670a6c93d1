#include "collector/sink/trace_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "collector/abi/trace_format.hpp"
#include "collector/ring/text.hpp"
#include "collector/sink/memory.hpp"
#include "collector/sink/output_path.hpp"
#include "collector/sink/signal_guard.hpp"
#include "collector/sink/xxhash64.hpp"

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

namespace gpuspy::sink {

namespace {

constexpr int kCompressionLevel = 1;
/// The sizes of the columns take some 100 bytes.
constexpr std::size_t kLeastInColumns = 8192;
/// A reader of a pipe that takes nothing for this long has lost the block.
constexpr long kPipeWaitSeconds = 1;

/// Whether a file may grow to `bytes`: beyond the limit a write raises SIGXFSZ, which ends the host.
bool size_is_allowed(std::uint64_t bytes) noexcept {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

}  // namespace

int TraceWriter::init(std::size_t max_raw_bytes, ErrorCallback callback, void* callback_self) noexcept {
    callback_ = callback;
    callback_self_ = callback_self;
    workspace_bytes_ = ZSTD_estimateCCtxSize(kCompressionLevel);
    workspace_ = map_memory<std::uint8_t>(workspace_bytes_);
    frame_capacity_ = sizeof(abi::BlockHeader) + max_raw_bytes;
    frame_ = map_memory<std::uint8_t>(frame_capacity_);
    columns_ = map_memory<std::uint8_t>(max_raw_bytes + kColumnSizesBytes);
    column_scratch_ = map_memory<ColumnScratch>(1);
    compressor_ = workspace_ == nullptr ? nullptr : ZSTD_initStaticCCtx(workspace_, workspace_bytes_);
    const bool has_memory =
        compressor_ != nullptr && frame_ != nullptr && columns_ != nullptr && column_scratch_ != nullptr;
    return has_memory ? 0 : ENOMEM;
}

int TraceWriter::create(const char* path) noexcept {
    const int fd = ring::open_fd(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno;
    }
    const int error = ring::lock_file(fd);
    if (error != 0) {
        ring::close_fd(fd);
        return error;
    }
    return adopt(fd, path);
}

int TraceWriter::adopt(int fd, const char* path, std::uint64_t append_at) noexcept {
    struct stat status;
    const int error = ring::stat_fd(fd, &status);
    if (error != 0) {
        return error;
    }
    fd_ = fd;
    identity_ = {status.st_dev, status.st_ino};
    is_regular_ = S_ISREG(status.st_mode);
    broken_ = false;
    file_bytes_ = append_at;
    ring::TextBuilder(path_, sizeof path_).text(path);
    return 0;
}

int TraceWriter::write_header(const std::uint8_t* bytes, std::size_t count) noexcept {
    const ring::ErrnoGuard keep_errno;
    const int error = is_usable() ? write_all(bytes, count) : EBADF;
    file_bytes_ += error == 0 ? count : 0;
    return error;
}

void TraceWriter::replace_header(const std::uint8_t* bytes, std::size_t count) noexcept {
    const ring::ErrnoGuard keep_errno;
    if (is_usable() && is_regular_ && count <= file_bytes_ && ring::is_still(fd_, identity_) &&
        size_is_allowed(count)) {
        // Where it fails the file says less, and is as whole as before.
        [[maybe_unused]] const long wrote = syscall(SYS_pwrite64, fd_, bytes, count, 0);
    }
}

int TraceWriter::create_successor(const char* path, const std::uint8_t* header, std::size_t header_bytes) noexcept {
    const ring::ErrnoGuard keep_errno;
    OutputRequest request;
    request.pid = static_cast<std::uint32_t>(getpid());
    request.header = header;
    request.header_bytes = header_bytes;
    int fd = -1;
    int error = create_locked(path, request, &fd);
    if (error != 0) {
        return error;
    }
    error = adopt(fd, path, header_bytes);
    if (error != 0) {
        unlink(path);
        ring::close_fd(fd);
    }
    return error;
}

void TraceWriter::take_file_of(TraceWriter& successor) noexcept {
    if (ring::is_still(fd_, identity_)) {
        ring::close_fd(fd_);
    }
    fd_ = successor.fd_;
    identity_ = successor.identity_;
    file_bytes_ = successor.file_bytes_;
    broken_ = successor.broken_;
    successor.fd_ = -1;
}

bool TraceWriter::is_path_taken() const noexcept {
    struct stat status;
    return ring::stat_path(path_, false, &status) == 0 && ring::FileIdentity{status.st_dev, status.st_ino} != identity_;
}

int TraceWriter::append(const Frame& frame) noexcept {
    if (!is_usable()) {
        failed_bytes_ += frame.raw_bytes;
        return EBADF;
    }
    const ring::ErrnoGuard keep_errno;
    if (!ring::is_still(fd_, identity_)) {
        const int error = find_again();
        if (error != 0) {
            broken_ = true;
            return fail(error, WriteFault::kFindAgain, frame.raw_bytes);
        }
    }
    const int error = write_all(frame.bytes, frame.count);
    if (error != 0) {
        return fail(error, WriteFault::kWrite, frame.raw_bytes);
    }
    file_bytes_ += frame.count;
    return 0;
}

/// Bytes in `stored`; 0: the result would not be smaller.
std::size_t TraceWriter::compress(const Block& block, std::uint8_t* stored, std::size_t room,
                                  std::uint32_t& flags) noexcept {
    auto* compressor = static_cast<ZSTD_CCtx*>(compressor_);
    ColumnParts parts{};
    // What a salvager appends may stand behind a header of an older version, which does not say that there are columns.
    const bool in_columns = block.raw_bytes >= kLeastInColumns && (flags & abi::kBlockSalvaged) == 0 &&
                            take_apart(block.payload, block.raw_bytes, columns_, *column_scratch_, parts);
    if (!in_columns) {
        const std::size_t compressed =
            ZSTD_compressCCtx(compressor, stored, room, block.payload, block.raw_bytes, kCompressionLevel);
        return ZSTD_isError(compressed) != 0 ? 0 : compressed;
    }
    flags |= abi::kBlockColumns;
    std::size_t done = 0;
    std::size_t begin = 0;
    for (const std::size_t end : parts.end) {
        // A frame each: what the first learns of its bytes does not hold for the next.
        const std::size_t compressed =
            ZSTD_compressCCtx(compressor, stored + done, room - done, columns_ + begin, end - begin, kCompressionLevel);
        if (ZSTD_isError(compressed) != 0) return 0;
        done += compressed;
        begin = end;
    }
    return done;
}

Frame TraceWriter::build(const Block& block, std::uint64_t ticks) noexcept {
    std::uint8_t* stored = frame_ + sizeof(abi::BlockHeader);
    std::size_t stored_bytes = block.raw_bytes;
    std::uint32_t flags = block.flags;
    // A result that is not smaller does not fit, which zstd says as an error.
    const std::size_t room = block.raw_bytes == 0 ? 0 : block.raw_bytes - 1U;
    const std::size_t compressed = compress(block, stored, room, flags);
    if (compressed == 0) {
        flags = block.flags | abi::kBlockStored;
        std::memcpy(stored, block.payload, block.raw_bytes);
    } else {
        stored_bytes = compressed;
    }
    abi::BlockHeader header{};
    header.magic = abi::kBlockMagic;
    header.flags = flags;
    header.segment = block.segment;
    header.index = block.index;
    header.raw_bytes = block.raw_bytes;
    header.stored_bytes = static_cast<std::uint32_t>(stored_bytes);
    header.ticks = ticks;
    // The checksum covers the header up to itself and the payload behind it: moved together for the sum.
    constexpr std::size_t kSummed = offsetof(abi::BlockHeader, checksum);
    static_assert(kSummed == 32 && sizeof(abi::BlockHeader) == 40);
    std::memcpy(frame_ + sizeof header.checksum, &header, kSummed);
    header.checksum = xxhash64(frame_ + sizeof header.checksum, kSummed + stored_bytes);
    std::memcpy(frame_, &header, sizeof header);
    return {frame_, sizeof header + stored_bytes, block.raw_bytes};
}

int TraceWriter::write_all(const std::uint8_t* bytes, std::size_t count) noexcept {
    return is_regular_ ? write_regular(bytes, count) : write_stream(bytes, count);
}

int TraceWriter::write_regular(const std::uint8_t* bytes, std::size_t count) noexcept {
    if (!size_is_allowed(file_bytes_ + count)) {
        return EFBIG;
    }
    int error = 0;
    for (std::size_t done = 0; done < count && error == 0;) {
        const ssize_t wrote = syscall(SYS_pwrite64, fd_, bytes + done, count - done, file_bytes_ + done);
        if (wrote > 0) {
            done += static_cast<std::size_t>(wrote);
        } else if (wrote == 0) {
            error = ENOSPC;
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    if (error != 0) {
        // Back to the last whole block. A reader would skip a torn one as well, so a failure here changes nothing.
        [[maybe_unused]] const int cut = ftruncate(fd_, static_cast<off_t>(file_bytes_));
    }
    return error;
}

int TraceWriter::write_stream(const std::uint8_t* bytes, std::size_t count) noexcept {
    const SignalGuard no_signal(SIGPIPE);
    for (std::size_t done = 0; done < count;) {
        const ssize_t wrote = syscall(SYS_write, fd_, bytes + done, count - done);
        if (wrote >= 0) {
            done += static_cast<std::size_t>(wrote);
            continue;
        }
        if (errno == EINTR) {
            continue;
        }
        if (errno != EAGAIN) {
            broken_ = errno == EPIPE;
            return errno;
        }
        pollfd wait{fd_, POLLOUT, 0};
        timespec limit{kPipeWaitSeconds, 0};
        if (syscall(SYS_ppoll, &wait, 1, &limit, nullptr, 0) == 0) {
            return ETIMEDOUT;
        }
    }
    return 0;
}

/// The host closed our descriptor (a daemon does): the same file at the same path, opened and locked again.
int TraceWriter::find_again() noexcept {
    fd_ = -1;  // Not ours any more: not to be closed.
    if (!is_regular_ || path_[0] == '\0') {
        return EBADF;
    }
    const int fd = ring::open_fd(path_, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    struct stat status;
    int error = ring::stat_fd(fd, &status);
    // A new file may have got the number of one that was removed; it would have to have our size as well.
    if (error == 0 && (ring::FileIdentity{status.st_dev, status.st_ino} != identity_ ||
                       static_cast<std::uint64_t>(status.st_size) != file_bytes_)) {
        error = ESTALE;
    }
    error = error != 0 ? error : ring::lock_file(fd);
    if (error != 0) {
        ring::close_fd(fd);
        return error;
    }
    fd_ = ring::move_fd_high(fd);
    // Moving closed a descriptor of the file, and with it went the lock.
    return ring::lock_file(fd_);
}

void TraceWriter::complain(int error, WriteFault fault) noexcept {
    if (!reported_ && callback_ != nullptr) {
        reported_ = true;
        callback_(callback_self_, error, fault);
    }
}

int TraceWriter::fail(int error, WriteFault fault, std::uint64_t raw_bytes) noexcept {
    failed_bytes_ += raw_bytes;
    complain(error, fault);
    return error;
}

void TraceWriter::close() noexcept {
    if (ring::is_still(fd_, identity_)) {
        ring::close_fd(fd_);
    }
    fd_ = -1;
    unmap_memory(static_cast<std::uint8_t*>(workspace_), workspace_bytes_);
    unmap_memory(frame_, frame_capacity_);
    unmap_memory(columns_, frame_capacity_ - sizeof(abi::BlockHeader) + kColumnSizesBytes);
    unmap_memory(column_scratch_, 1);
    workspace_ = nullptr;
    compressor_ = nullptr;
    frame_ = nullptr;
    columns_ = nullptr;
    column_scratch_ = nullptr;
}

void TraceWriter::forget_after_fork() noexcept {
    const ring::ErrnoGuard keep_errno;
    close();
    is_regular_ = false;
    broken_ = false;
    reported_ = false;
    identity_ = {};
    file_bytes_ = 0;
    failed_bytes_ = 0;
    callback_ = nullptr;
    callback_self_ = nullptr;
    path_[0] = '\0';
}

}  // namespace gpuspy::sink

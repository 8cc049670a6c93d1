#include "collector/sink/output_path.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "collector/ring/owned_fd.hpp"
#include "collector/ring/text.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/salvage.hpp"

namespace gpuspy::sink {

namespace {

using ring::TextBuilder;

constexpr unsigned kMaxCandidates = 1000;
constexpr unsigned kMaxAttempts = 50;
constexpr unsigned kRenameNoReplace = 1;  // RENAME_NOREPLACE, which glibc 2.17's headers lack.

/// What to do about a file that stands at a candidate path.
enum class Verdict : std::uint8_t { kUse, kTryNext, kMoveAway, kRetry, kFail };

int fail(Output* output, int error, const char* path, const char* what) noexcept {
    TextBuilder(output->message, sizeof output->message)
        .text("cannot write the trace ")
        .text(path)
        .text(": ")
        .text(what);
    return error;
}

const char* explain(int error) noexcept {
    switch (error) {
        case ENOENT:
            return "its directory does not exist; create it or set GPUSPY_OUTPUT";
        case ENOTDIR:
            return "part of the path is not a directory; set GPUSPY_OUTPUT";
        case EISDIR:
            return "it is a directory; name a file in GPUSPY_OUTPUT";
        case EACCES:
        case EPERM:
            return "permission denied; set GPUSPY_OUTPUT to a place that can be written";
        case EROFS:
            return "the file system is read-only; set GPUSPY_OUTPUT to a place that can be written";
        case ENOSPC:
        case EDQUOT:
            return "no space left; set GPUSPY_OUTPUT to another file system";
        case ELOOP:
            return "it is a symbolic link; name the file that it leads to in GPUSPY_OUTPUT";
        case EFBIG:
            return "it is larger than the limit on the size of files (ulimit -f) allows";
        case ENAMETOOLONG:
            return "the path is too long; set GPUSPY_OUTPUT to a shorter one";
        case ENXIO:
            return "nothing reads the pipe; start its reader first";
        case EEXIST:
            return "all its other names are taken; remove old traces or set GPUSPY_OUTPUT";
        case EMFILE:
        case ENFILE:
            return "too many open files";
        default:
            return "it could not be opened";
    }
}

/// renameat2(RENAME_NOREPLACE), or link and unlink where the file system lacks it. 0 or an errno value.
int rename_if_free(const char* from, const char* to) noexcept {
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, kRenameNoReplace) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno;
    }
    if (link(from, to) != 0) {
        return errno;
    }
    unlink(from);
    return 0;
}

int write_header(int fd, const OutputRequest& request) noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < request.header_bytes) {
        return EFBIG;  // A write would raise SIGXFSZ, which ends the host.
    }
    for (std::size_t done = 0; done < request.header_bytes;) {
        const long count = syscall(SYS_pwrite64, fd, request.header + done, request.header_bytes - done, done);
        if (count <= 0 && !(count < 0 && errno == EINTR)) {
            return count == 0 ? ENOSPC : errno;
        }
        done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    return 0;
}

/// A file without a name, which gets the name `path` when it is locked and has its header: a process that is killed before leaves
/// nothing. 0, or an errno value: also of file systems that have no such files, and EEXIST.
int create_unnamed(const char* path, const OutputRequest& request, int* created) noexcept {
    const char* slash = std::strrchr(path, '/');
    char text[sizeof Output::path];
    TextBuilder folder(text, sizeof text);
    folder.text_n(path, slash == path ? 1 : static_cast<std::size_t>(slash - path));
    int fd = ring::open_fd(text, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno;
    }
    fd = ring::move_fd_high(fd);
    int error = fchmod(fd, 0600) == 0 ? 0 : errno;  // Whatever a default ACL of the folder says.
    error = error != 0 ? error : ring::lock_file(fd);
    error = error != 0 || request.header == nullptr ? error : write_header(fd, request);
    TextBuilder(text, sizeof text).text("/proc/self/fd/").decimal(static_cast<unsigned>(fd));
    if (error == 0 && linkat(AT_FDCWD, text, AT_FDCWD, path, AT_SYMLINK_FOLLOW) != 0) {
        error = errno;
    }
    if (error != 0) {
        ring::close_fd(fd);
        return error;
    }
    *created = fd;
    return 0;
}

bool is_same_run(const OutputRequest& request, const TraceIdentity& trace) noexcept {
    return request.run_id != 0 && request.run_id == trace.run_id;
}

bool is_file_at(int fd, const char* path) noexcept {
    struct stat status;
    ring::FileIdentity identity;
    return ring::stat_path(path, false, &status) == 0 && ring::identify(fd, &identity) == 0 &&
           identity == ring::FileIdentity{status.st_dev, status.st_ino};
}

/// A regular file that was there before us. kUse and kMoveAway: `fd` holds its lock.
Verdict judge_regular(const OutputRequest& request, const char* path, int fd, Output* output, int* error) noexcept {
    *error = ring::lock_file(fd);
    if (*error == EAGAIN) {
        return Verdict::kTryNext;
    }
    if (*error != 0) {
        fail(output, *error, path, "it cannot be locked; set GPUSPY_OUTPUT to another file system");
        return Verdict::kFail;
    }
    if (!is_file_at(fd, path)) {
        return Verdict::kRetry;  // Another process moved it before we had the lock.
    }
    struct stat status;
    *error = ring::stat_fd(fd, &status);
    if (*error == 0 && status.st_size == 0) {
        return Verdict::kUse;
    }
    TraceIdentity trace;
    if (!read_trace_identity(fd, &trace)) {
        *error = EEXIST;
        fail(output, *error, path, "a file that is not a trace stands there; remove it or set GPUSPY_OUTPUT");
        return Verdict::kFail;
    }
    return is_same_run(request, trace) ? Verdict::kTryNext : Verdict::kMoveAway;
}

int move_away(const char* path) noexcept {
    int error = EEXIST;
    for (unsigned i = 0; i < kMaxCandidates && error == EEXIST; ++i) {
        char old[sizeof Output::path + 16];
        TextBuilder name(old, sizeof old);
        name.text(path).text(".old");
        if (i != 0) {
            name.text(".").decimal(i);
        }
        error = rename_if_free(path, old);
    }
    return error;
}

/// Candidate 0 is the path itself, 1 has the pid before its extension, later ones a count behind the pid.
bool build_candidate(const OutputRequest& request, unsigned candidate, char* buffer, std::size_t capacity) noexcept {
    TextBuilder name(buffer, capacity);
    if (candidate == 0) {
        return !name.text(request.path).was_cut();
    }
    const char* slash = std::strrchr(request.path, '/');
    const char* base = slash == nullptr ? request.path : slash + 1;
    const char* dot = std::strrchr(base, '.');
    const char* extension = dot == nullptr || dot == base ? base + std::strlen(base) : dot;
    name.text_n(request.path, static_cast<std::size_t>(extension - request.path)).text(".").decimal(request.pid);
    if (candidate > 1) {
        name.text(".").decimal(candidate - 1);
    }
    return !name.text(extension).was_cut();
}

/// Opens a pipe or a device, for writing alone: one opened for both never tells that its reader is gone.
Verdict open_stream(const char* path, Output* output, int* error) noexcept {
    const int fd = ring::open_fd(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *error = errno;
        fail(output, *error, path, explain(*error));
        return Verdict::kFail;
    }
    output->fd = ring::move_fd_high(fd);
    return Verdict::kUse;
}

/// Opens what stands at `path` and judges it. `salvaged`: whether the rings of its owner were looked for already.
Verdict judge_existing(const OutputRequest& request, const char* path, bool* salvaged, Output* output,
                       int* error) noexcept {
    int fd = ring::open_fd(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *error = errno;
        if (*error == ENOENT) {
            return Verdict::kRetry;
        }
        fail(output, *error, path, explain(*error));
        return Verdict::kFail;
    }
    struct stat status;
    *error = ring::stat_fd(fd, &status);
    if (*error == 0 && !S_ISREG(status.st_mode)) {
        ring::close_fd(fd);
        return open_stream(path, output, error);
    }
    fd = ring::move_fd_high(fd);
    const Verdict verdict = judge_regular(request, path, fd, output, error);
    if (verdict == Verdict::kUse) {
        output->fd = fd;
        output->is_regular = true;
        return verdict;
    }
    if (verdict == Verdict::kMoveAway && *salvaged) {
        *error = move_away(path);
        ring::close_fd(fd);
        if (*error != 0) {
            fail(output, *error, path, "the older trace there cannot be moved away; remove it or set GPUSPY_OUTPUT");
            return Verdict::kFail;
        }
        return Verdict::kRetry;
    }
    ring::close_fd(fd);
    if (verdict == Verdict::kMoveAway) {
        // Without our lock: the salvager takes its own, and closing its descriptor would give ours back.
        *salvaged = true;
        const SalvageReason reason = salvage_for_trace(path, request.ring_directory).reason;
        return reason == SalvageReason::kOwnerAlive ? Verdict::kTryNext : Verdict::kRetry;
    }
    return verdict;
}

}  // namespace

int create_locked(const char* path, const OutputRequest& request, int* created) noexcept {
    struct stat status;
    if (ring::stat_path(path, false, &status) == 0) {
        return EEXIST;
    }
    if (create_unnamed(path, request, created) == 0) {
        return 0;
    }
    char unfinished[sizeof Output::path + 32];
    TextBuilder(unfinished, sizeof unfinished).text(path).text(".").decimal(request.pid).text(".part");
    constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = ring::open_fd(unfinished, kFlags, 0600);
    if (fd < 0 && errno == EEXIST) {
        unlink(unfinished);  // Of a process that had our pid and died in here.
        fd = ring::open_fd(unfinished, kFlags, 0600);
    }
    if (fd < 0) {
        return errno;
    }
    fd = ring::move_fd_high(fd);
    int error = ring::lock_file(fd);
    error = error != 0 || request.header == nullptr ? error : write_header(fd, request);
    error = error != 0 ? error : rename_if_free(unfinished, path);
    if (error != 0) {
        unlink(unfinished);
        ring::close_fd(fd);
        return error;
    }
    *created = fd;
    return 0;
}

int open_output(const OutputRequest& request, Output* output) noexcept {
    const ring::ErrnoGuard keep_errno;
    *output = Output{};
    unsigned candidate = 0;
    bool salvaged = false;
    for (unsigned attempt = 0; candidate < kMaxCandidates && attempt < kMaxAttempts + candidate; ++attempt) {
        if (!build_candidate(request, candidate, output->path, sizeof output->path)) {
            return fail(output, ENAMETOOLONG, request.path, explain(ENAMETOOLONG));
        }
        int error = create_locked(output->path, request, &output->fd);
        if (error == 0) {
            output->is_regular = true;
            output->has_header = request.header != nullptr;
            return 0;
        }
        if (error != EEXIST) {
            return fail(output, error, output->path, explain(error));
        }
        switch (judge_existing(request, output->path, &salvaged, output, &error)) {
            case Verdict::kUse:
                return 0;
            case Verdict::kTryNext:
                ++candidate;
                break;
            case Verdict::kFail:
                return error;
            case Verdict::kMoveAway:
            case Verdict::kRetry:
                break;
        }
    }
    return fail(output, EEXIST, request.path, explain(EEXIST));
}

}  // namespace gpuspy::sink

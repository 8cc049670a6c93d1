// Descriptors of ours in a process that is not ours: out of the way of the host's numbers, and never used once the host
// has closed them (a daemon closes every descriptor it finds, and the next file it opens gets our number).
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>

namespace gpuspy::ring {

/// Keeps errno as the host left it.
class ErrnoGuard {
public:
    ErrnoGuard() noexcept : saved_(errno) {}
    ~ErrnoGuard() { errno = saved_; }
    ErrnoGuard(const ErrnoGuard&) = delete;
    ErrnoGuard& operator=(const ErrnoGuard&) = delete;

private:
    int saved_;
};

// By their system calls: the libc functions are cancellation points, and other preloaded libraries stand in front of
// them.

/// A descriptor, or -1 and errno.
inline int open_fd(const char* path, int flags, unsigned mode = 0) noexcept {
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

inline void close_fd(int fd) noexcept {
    syscall(SYS_close, fd);
}

/// fstat by its system call: the function's symbol is newer than glibc 2.17. 0 or an errno value.
inline int stat_fd(int fd, struct stat* result) noexcept {
    return syscall(SYS_fstat, fd, result) == 0 ? 0 : errno;
}

/// lstat (follow = false) or stat by the system call. 0 or an errno value.
inline int stat_path(const char* path, bool follow, struct stat* result) noexcept {
    return syscall(SYS_newfstatat, AT_FDCWD, path, result, follow ? 0 : AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

/// Moves a descriptor to a high number, so that the host's own get the numbers they would have without us. Returns the
/// new one, or `fd` itself where that is not possible.
inline int move_fd_high(int fd) noexcept {
    constexpr int kLowest[] = {900, 200, 50};
    for (const int lowest : kLowest) {
        const int high = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
        if (high >= 0) {
            close_fd(fd);
            return high;
        }
    }
    return fd;
}

/// Whether the host keeps as many descriptors to open as it may need when we hold ours: a program that runs near its limit must not
/// reach it because of us. Looks at the highest numbers, which are given out last.
inline bool has_descriptors_to_spare() noexcept {
    constexpr int kSpared = 16;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) {
        return true;
    }
    int free = 0;
    for (int fd = static_cast<int>(limit.rlim_cur) - 1; fd >= 0 && free < kSpared; --fd) {
        free += fcntl(fd, F_GETFD) == -1 ? 1 : 0;
    }
    return free >= kSpared;
}

/// Which file a descriptor was when we opened it.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;

    bool operator==(const FileIdentity&) const noexcept = default;
};

/// 0 or an errno value.
inline int identify(int fd, FileIdentity* identity) noexcept {
    struct stat status;
    const int error = stat_fd(fd, &status);
    if (error == 0) {
        *identity = {status.st_dev, status.st_ino};
    }
    return error;
}

/// Whether `fd` is still open on that file.
inline bool is_still(int fd, const FileIdentity& identity) noexcept {
    FileIdentity now;
    return fd >= 0 && identify(fd, &now) == 0 && now == identity;
}

/// A POSIX write lock on the whole file, without waiting. 0, or EAGAIN when another process holds one, or an errno
/// value.
inline int lock_file(int fd) noexcept {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (fcntl(fd, F_SETLK, &lock) == 0) {
        return 0;
    }
    return errno == EACCES ? EAGAIN : errno;
}

}  // namespace gpuspy::ring

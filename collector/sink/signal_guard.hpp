// Keeps a signal that our own doing raises from a process that is not ours.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace gpuspy::sink {

/// Blocks the signal for this thread, and takes back one that was raised meanwhile. By system calls: pthread_sigmask is newer
/// than glibc 2.17 in libc.
class SignalGuard {
public:
    explicit SignalGuard(int signal) noexcept : mask_(std::uint64_t{1} << (signal - 1)) {
        syscall(SYS_rt_sigpending, &pending_before_, sizeof pending_before_);
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask_, &mask_before_, sizeof mask_);
    }
    ~SignalGuard() {
        const int saved = errno;
        if ((pending_before_ & mask_) == 0) {
            const timespec now{};
            syscall(SYS_rt_sigtimedwait, &mask_, nullptr, &now, sizeof mask_);
        }
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask_before_, nullptr, sizeof mask_before_);
        errno = saved;
    }
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;

private:
    std::uint64_t mask_;
    std::uint64_t pending_before_ = 0;
    std::uint64_t mask_before_ = 0;
};

}  // namespace gpuspy::sink

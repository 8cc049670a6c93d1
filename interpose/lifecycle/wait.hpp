// Waiting for another thread, for a limited time.
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/ring/owned_fd.hpp"

namespace gpuspy::hook {

/// By its system call: nanosleep() is a cancellation point, and a host's thread that is cancelled must not unwind from here.
inline void pause_ns(long ns) noexcept {
    const ring::ErrnoGuard keep_errno;
    const timespec pause{ns / 1'000'000'000, ns % 1'000'000'000};
    syscall(SYS_nanosleep, &pause, nullptr);
}

inline void pause_ms(long ms) noexcept {
    pause_ns(ms * 1'000'000);
}

/// Looks every millisecond, `max_ms` times. Returns whether it is done.
template <class Done>
bool wait_until(int max_ms, Done done) noexcept {
    for (int i = 0; i < max_ms; ++i) {
        if (done()) return true;
        pause_ms(1);
    }
    return done();
}

}  // namespace gpuspy::hook

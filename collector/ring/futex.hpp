// Sleeping until a word changes, without the C library: a host's own locks are not ours to use.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace gpuspy::ring {

/// Sleeps while the word has this value, for so long at most. Leaves errno changed.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t while_value, std::uint64_t timeout_ns) noexcept {
    const timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000U),
                           static_cast<long>(timeout_ns % 1'000'000'000U)};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, while_value, &timeout, nullptr, 0);
}

inline void futex_wake_one(std::atomic<std::uint32_t>& word) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

inline void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace gpuspy::ring

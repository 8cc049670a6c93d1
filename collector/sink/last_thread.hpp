// Whether the drain thread is all that is left of a process.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpuspy::sink {

/// Threads of ours besides the drain thread: they end when it does.
extern std::atomic<std::uint32_t> other_own_threads;

class LastThreadCheck {
public:
    constexpr LastThreadCheck() noexcept = default;

    /// Whether every thread of the host has ended, main by pthread_exit: without the calling thread the process would be over.
    /// Looks at most once a second; in between: false.
    bool is_last_thread() noexcept;

private:
    std::uint64_t last_look_ns_ = 0;
};

}  // namespace gpuspy::sink

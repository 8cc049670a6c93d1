#include "collector/sink/last_thread.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "collector/ring/clock.hpp"
#include "collector/ring/owned_fd.hpp"
#include "collector/ring/text.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::uint64_t kLookEveryNs = 1'000'000'000;

/// proc(5): "pid (name) state ppid ...". The name may hold anything, so words are counted from its last parenthesis; the
/// number of threads is the 18th of them.
constexpr int kThreadsWord = 18;

}  // namespace

constinit std::atomic<std::uint32_t> other_own_threads{0};

bool LastThreadCheck::is_last_thread() noexcept {
    const std::uint64_t now_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
    if (now_ns - last_look_ns_ < kLookEveryNs) {
        return false;
    }
    last_look_ns_ = now_ns;
    char path[48];
    ring::TextBuilder(path, sizeof path)
        .text("/proc/self/task/")
        .decimal(static_cast<unsigned>(getpid()))
        .text("/stat");
    const int fd = ring::open_fd(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    char text[512];
    const long count = syscall(SYS_read, fd, text, sizeof text - 1);
    ring::close_fd(fd);
    text[count > 0 ? count : 0] = '\0';
    const char* word = std::strrchr(text, ')');
    // Main is a zombie, and it and our threads are all there is.
    if (word == nullptr || word[1] != ' ' || word[2] != 'Z') {
        return false;
    }
    for (int i = 0; i < kThreadsWord && word != nullptr; ++i) {
        word = std::strchr(word + 1, ' ');
    }
    const std::uint32_t ours = 2 + other_own_threads.load(std::memory_order_relaxed);
    return word != nullptr && ours < 10 && word[1] == static_cast<char>('0' + ours) && word[2] == ' ';
}

}  // namespace gpuspy::sink

#include "collector/ring/mutex.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <vector>

namespace gpuspy::ring {
namespace {

constexpr std::uint64_t kShortNs = 20'000'000;
constexpr std::uint64_t kLongNs = 60'000'000'000;

bool child_gets(Mutex& mutex) {
    const pid_t child = fork();
    if (child == 0) {
        mutex.lock();
        mutex.unlock();
        _exit(0);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

TEST_CASE("a mutex lets one thread in at a time, however many wait") {
    constexpr int kThreads = 16;
    constexpr int kTimes = 2000;
    Mutex mutex;
    int count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
            for (int j = 0; j < kTimes; ++j) {
                if (i % 2 == 0) {
                    const Locked guard(mutex);
                    ++count;
                } else if (mutex.lock_while_it_moves(kLongNs)) {
                    ++count;
                    mutex.unlock();
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    REQUIRE(count == kThreads * kTimes);
}

TEST_CASE("a mutex that stands still is given up, and errno is kept") {
    Mutex mutex;
    mutex.lock();
    errno = EXDEV;
    REQUIRE_FALSE(mutex.lock_while_it_moves(kShortNs));
    REQUIRE(errno == EXDEV);
    mutex.unlock();
    REQUIRE(mutex.lock_while_it_moves(kShortNs));
    mutex.forget_after_fork();
    REQUIRE(mutex.lock_while_it_moves(kShortNs));
}

TEST_CASE("a child takes a mutex that another thread of its parent held at the fork") {
    Mutex mutex;
    mutex.lock();
    REQUIRE(child_gets(mutex));
    // The parent's is untouched.
    REQUIRE_FALSE(mutex.lock_while_it_moves(kShortNs));
}

TEST_CASE("who waits with a limit takes a mutex from nobody") {
    Mutex mutex;
    mutex.lock();
    const pid_t child = fork();
    if (child == 0) {
        _exit(mutex.lock_while_it_moves(kShortNs) ? 1 : 0);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
}

}  // namespace gpuspy::ring

#include "collector/ring/ring_set.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "collector/ring/ring.hpp"

using namespace gpuspy;
using ring::RingSet;
using ring::RingSetConfig;

namespace {

constexpr abi::ApiEntry kApis[] = {
    {"cuLaunchKernel", "driver", 0, 1, 0, {}, ""},
    {"cudaMemcpy", "runtime", 1, 3, abi::kApiBlocking, {}, ""},
};

/// Each test has rings of its own in /dev/shm.
RingSetConfig test_config() {
    static std::uint64_t count = 0;
    RingSetConfig config;
    config.ring_bytes = 4096;
    config.pid = static_cast<std::uint32_t>(getpid());
    config.nonce = 0x7e57000000000000U + ++count;
    config.run_id = 7;
    config.trace_path = "/tmp/trace.bin";
    config.boot_id = "boot";
    config.apis = kApis;
    config.api_count = 2;
    return config;
}

struct Rings {
    RingSet set;
    ~Rings() {
        set.mark_ended_and_unlink();
        set.forget_after_fork();
    }
};

/// Ends the process's part in a child and says whether `check` held there.
template <class Check>
bool holds_in_child(Check&& check) {
    const pid_t child = fork();
    if (child == 0) {
        _exit(check() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_locked_by_us(const char* path) {
    return holds_in_child([&] {
        const int fd = open(path, O_RDWR);
        struct flock lock = {};
        lock.l_type = F_WRLCK;
        return fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK && lock.l_pid == getppid();
    });
}

}  // namespace

TEST_CASE("the mapping is a locked file that says what it is") {
    Rings rings;
    const RingSetConfig config = test_config();
    REQUIRE(rings.set.create(config) == 0);
    REQUIRE(rings.set.is_shared());
    const std::string path =
        "/dev/shm/gpuspy." + std::to_string(getpid()) + ".7e5700000000000" + std::to_string(config.nonce & 0xf);
    REQUIRE(rings.set.path() == path);
    struct stat status;
    REQUIRE(stat(path.c_str(), &status) == 0);
    REQUIRE((status.st_mode & 07777) == 0600);
    REQUIRE(is_locked_by_us(path.c_str()));
    const abi::MapHeader* header = rings.set.header();
    REQUIRE(std::memcmp(&header->magic, "GSPYRNG1", 8) == 0);
    REQUIRE(header->nonce == config.nonce);
    REQUIRE(header->run_id == 7);
    REQUIRE(header->pid == static_cast<std::uint32_t>(getpid()));
    REQUIRE(std::string(header->trace_path) == "/tmp/trace.bin");
    REQUIRE(std::string(header->boot_id) == "boot");
    REQUIRE(std::string(rings.set.apis()[1].name) == "cudaMemcpy");
    REQUIRE(header->ring_stride == 8192);
    REQUIRE(header->ring_count.load() == 0);
}

TEST_CASE("a claimed ring begins with its thread") {
    Rings rings;
    REQUIRE(rings.set.create(test_config()) == 0);
    abi::RingHeader* ring = rings.set.claim(4711, 99);
    REQUIRE(ring != nullptr);
    REQUIRE(ring->index == 0);
    REQUIRE(ring->tid.load() == 4711);
    REQUIRE(rings.set.ring_count() == 1);
    REQUIRE(rings.set.header()->ring_count.load() == 1);
    const auto* event = reinterpret_cast<const abi::ThreadEvent*>(ring::data(ring));
    REQUIRE(event->header.type == abi::EventType::kThread);
    REQUIRE(event->tid == 4711);
    REQUIRE(event->ticks == 99);
    REQUIRE(ring::fill_bytes(ring) == sizeof(abi::ThreadEvent));
}

TEST_CASE("a ring goes to another thread once its own has ended and it is drained") {
    Rings rings;
    REQUIRE(rings.set.create(test_config()) == 0);
    abi::RingHeader* first = rings.set.claim(1, 1);
    REQUIRE(rings.set.claim(2, 2) != first);
    RingSet::release(first);
    REQUIRE(rings.set.claim(3, 3) != first);  // Not drained yet.
    ring::consume(first, ring::written(first));
    REQUIRE(rings.set.claim(4, 4) == first);
    REQUIRE(first->thread_ended.load() == 0);
    REQUIRE(rings.set.claim(5, 5) != first);
    REQUIRE(rings.set.ring_count() == 4);
}

TEST_CASE("where there is no tmpfs the rings are private and work alike") {
    RingSetConfig config = test_config();
    int expected = 0;
    SECTION("no directory wanted") {
        config.directory = nullptr;
        expected = ENOENT;
    }
    SECTION("a directory that is not there") {
        config.directory = "/nonexistent";
        expected = ENOENT;
    }
    SECTION("not a tmpfs") {
        config.directory = "/proc/self";
        expected = -1;  // The kernel's choice.
    }
    Rings rings;
    REQUIRE(rings.set.create(config) == 0);
    REQUIRE_FALSE(rings.set.is_shared());
    REQUIRE(rings.set.share_error() != 0);
    REQUIRE((expected == -1 || rings.set.share_error() == expected));
    REQUIRE(std::string(rings.set.path()).empty());
    REQUIRE(std::string(rings.set.apis()[0].name) == "cuLaunchKernel");
    REQUIRE(rings.set.claim(1, 1) != nullptr);
    REQUIRE(rings.set.header()->ring_count.load() == 1);
}

TEST_CASE("a ring size that is no power of two is refused") {
    RingSetConfig config = test_config();
    config.ring_bytes = GENERATE(0U, 2048U, 5000U, 128U << 20);
    Rings rings;
    REQUIRE(rings.set.create(config) == EINVAL);
}

TEST_CASE("a file of that name is never taken over") {
    Rings first;
    const RingSetConfig config = test_config();
    REQUIRE(first.set.create(config) == 0);
    Rings second;
    REQUIRE(second.set.create(config) == 0);
    REQUIRE_FALSE(second.set.is_shared());
    REQUIRE(second.set.share_error() == EEXIST);
}

TEST_CASE("when the host closed our descriptor, new rings are private and its own file is left alone") {
    Rings rings;
    REQUIRE(rings.set.create(test_config()) == 0);
    REQUIRE(rings.set.claim(1, 1) != nullptr);
    for (int fd = 50; fd < 1024; ++fd) {
        close(fd);
    }
    const int host = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
    REQUIRE(host >= 0);
    REQUIRE(dup2(host, 900) == 900);
    abi::RingHeader* ring = rings.set.claim(2, 2);
    REQUIRE(ring != nullptr);
    REQUIRE(ring->index == 1);
    REQUIRE(rings.set.ring_count() == 2);
    REQUIRE(rings.set.header()->ring_count.load() == 1);
    struct stat status;
    REQUIRE(fstat(host, &status) == 0);
    REQUIRE(status.st_size == 0);
    close(900);
    close(host);
}

TEST_CASE("threads that claim at once get rings of their own") {
    Rings rings;
    REQUIRE(rings.set.create(test_config()) == 0);
    std::vector<abi::RingHeader*> claimed(16);
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < claimed.size(); ++i) {
        threads.emplace_back([&, i] { claimed[i] = rings.set.claim(i + 1, i); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    REQUIRE(std::set<abi::RingHeader*>(claimed.begin(), claimed.end()).size() == claimed.size());
    REQUIRE(rings.set.ring_count() == claimed.size());
    for (std::uint32_t i = 0; i < claimed.size(); ++i) {
        REQUIRE(reinterpret_cast<const abi::ThreadEvent*>(ring::data(claimed[i]))->tid == i + 1);
    }
}

TEST_CASE("the ring of a thread that ended without a word is taken back when none is free") {
    Rings rings;
    RingSetConfig config = test_config();
    config.has_thread_ended = [](std::uint32_t tid) noexcept { return tid == 7; };
    REQUIRE(rings.set.create(config) == 0);
    abi::RingHeader* dead = rings.set.claim(7, 1);
    abi::RingHeader* alive = rings.set.claim(8, 2);
    ring::consume(dead, ring::written(dead));
    ring::consume(alive, ring::written(alive));
    REQUIRE(rings.set.claim(9, 3) == dead);
    REQUIRE(dead->tid.load() == 9);
    REQUIRE(rings.set.claim(10, 4) != alive);
    REQUIRE(rings.set.ring_count() == 3);
}

TEST_CASE("a forked child that forgets leaves the parent's rings, file and lock alone") {
    Rings rings;
    REQUIRE(rings.set.create(test_config()) == 0);
    abi::RingHeader* ring = rings.set.claim(1, 1);
    const std::string path = rings.set.path();
    REQUIRE(holds_in_child([&] {
        rings.set.forget_after_fork();
        RingSetConfig own = test_config();
        own.pid = static_cast<std::uint32_t>(getpid());
        const bool fresh = rings.set.header() == nullptr && rings.set.ring_count() == 0 && rings.set.create(own) == 0;
        rings.set.mark_ended_and_unlink();
        return fresh && path != rings.set.path();
    }));
    REQUIRE(access(path.c_str(), F_OK) == 0);
    REQUIRE(is_locked_by_us(path.c_str()));
    REQUIRE(ring::fill_bytes(ring) == sizeof(abi::ThreadEvent));
    REQUIRE(rings.set.header()->owner_state.load() == 0);
}

TEST_CASE("a clean end is marked and leaves no file") {
    Rings rings;
    REQUIRE(rings.set.create(test_config()) == 0);
    const std::string path = rings.set.path();
    rings.set.mark_ended_and_unlink();
    REQUIRE(rings.set.header()->owner_state.load() == static_cast<std::uint32_t>(abi::OwnerState::kEnded));
    REQUIRE(access(path.c_str(), F_OK) != 0);
}

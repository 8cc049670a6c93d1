#include "collector/sink/salvage.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <memory>
#include <thread>

#include "collector/sink/drain.hpp"
#include "tests/unit/sink/fixtures.hpp"
#include "tests/unit/sink/trace_dump.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using sink::SalvageReason;
using Lines = std::vector<std::string>;

namespace {

constexpr std::uint64_t kRingBytes = 16384;
constexpr std::uint64_t kNonce = 0x1234;

/// What a dead process left: a trace with one committed call, and a ring file (in the folder, not in /dev/shm) with one
/// more.
class Remains {
public:
    TempFolder folder;
    std::string trace = folder.file("trace.bin");
    std::string ring = folder.file("gpuspy.remains");
    std::uint64_t committed_bytes = 0;

    explicit Remains(std::uint32_t pid = 0x7ffffff0) {
        TestRings rings(trace, kNonce, kRingBytes);
        abi::MapHeader* header = rings.set.header();
        TestWriter writer(trace, header->nonce);
        sink::Drain drain;
        REQUIRE(drain.init(rings.set, writer.writer, {}, {}) == 0);
        abi::RingHeader* claimed = rings.set.claim(501, 1);
        REQUIRE(CallBuilder(0, 10, 11).put(claimed, kRingBytes));
        drain.run_pass(false);
        drain.destroy();
        committed_bytes = writer.writer.file_bytes();
        REQUIRE(CallBuilder(1, 20, 25).put(claimed, kRingBytes));
        claimed->open_api.store(3);
        header->pid = pid;
        header->run_id = 9;
        std::ofstream copy(ring, std::ios::binary);
        copy << std::ifstream(rings.set.path(), std::ios::binary).rdbuf();
        copy.close();
        nonce_ = header->nonce;
    }

    /// Changes the ring file's header or its ring.
    template <class Change>
    void damage(Change&& change) {
        std::vector<std::uint8_t> bytes = read_bytes(ring);
        auto* header = reinterpret_cast<abi::MapHeader*>(bytes.data());
        auto* first = reinterpret_cast<abi::RingHeader*>(bytes.data() + header->rings_offset);
        change(header, first);
        write_text(ring, {bytes.begin(), bytes.end()});
    }
    sink::SalvageResult salvage(const sink::SalvageFilter& filter = {}) {
        return sink::salvage_ring(ring.c_str(), filter);
    }
    [[nodiscard]] bool ring_is_there() const { return access(ring.c_str(), F_OK) == 0; }
    [[nodiscard]] std::uint64_t trace_bytes() const { return std::filesystem::file_size(trace); }
    [[nodiscard]] std::uint64_t nonce() const { return nonce_; }

private:
    std::uint64_t nonce_ = 0;
};

/// Holds a lock on a file in another process while it lives.
class LockHolder {
public:
    explicit LockHolder(const std::string& path) {
        int ready[2];
        REQUIRE(pipe(ready) == 0);
        child_ = fork();
        if (child_ == 0) {
            const int fd = open(path.c_str(), O_RDWR);
            const char result = ring::lock_file(fd) == 0 ? 'y' : 'n';
            [[maybe_unused]] const ssize_t told = write(ready[1], &result, 1);
            pause();
            _exit(0);
        }
        char result = 'n';
        REQUIRE(read(ready[0], &result, 1) == 1);
        REQUIRE(result == 'y');
        close(ready[0]);
        close(ready[1]);
    }
    ~LockHolder() {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }
    [[nodiscard]] pid_t pid() const { return child_; }
    LockHolder(const LockHolder&) = delete;
    LockHolder& operator=(const LockHolder&) = delete;

private:
    pid_t child_;
};

}  // namespace

TEST_CASE("a dead process's ring is emptied into its trace") {
    Remains remains;
    const sink::SalvageResult result = remains.salvage();
    REQUIRE(result.reason == SalvageReason::kDone);
    REQUIRE(result.events == 1);
    REQUIRE(result.cut_bytes == 0);
    REQUIRE(result.corrupt_rings == 0);
    REQUIRE(result.run_id == 9);
    REQUIRE(std::string(result.trace_path) == remains.trace);
    REQUIRE_FALSE(remains.ring_is_there());
    const TraceDump dump = dump_file(remains.trace);
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("block") == Lines{"block 0.0", "block 1.0 salvaged"});
    REQUIRE(dump.of("call").size() == 2);
    REQUIRE(dump.of("call").at(1).rfind("call ring 0 tid 501 cudaMemcpy 20-25 ", 0) == 0);
    REQUIRE(dump.of("notice") == Lines{"notice thread 501 was in cuGraphLaunch when the process ended"});
    REQUIRE(dump.of("end") == Lines{"end kind 2 detail 0"});
}

TEST_CASE("what was appended after the commit is cut off") {
    Remains remains;
    std::ofstream(remains.trace, std::ios::app | std::ios::binary) << std::string(1000, 'x');
    const sink::SalvageResult result = remains.salvage();
    REQUIRE(result.reason == SalvageReason::kDone);
    REQUIRE(result.cut_bytes == 1000);
    REQUIRE(dump_file(remains.trace).of("call").size() == 2);
    REQUIRE_FALSE(dump_file(remains.trace).partial);
}

TEST_CASE("a trace that lost its end keeps what is whole") {
    Remains remains;
    std::filesystem::resize_file(remains.trace, remains.committed_bytes - 1);
    const sink::SalvageResult result = remains.salvage();
    REQUIRE(result.reason == SalvageReason::kDone);
    const TraceDump dump = dump_file(remains.trace);
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("call").size() == 1);  // The committed one was in the block that is gone.
}

TEST_CASE("a living owner is left alone") {
    SECTION("it holds the ring's lock") {
        Remains remains;
        const LockHolder holder(remains.ring);
        remains.damage(
            [&](abi::MapHeader* map, abi::RingHeader*) { map->pid = static_cast<std::uint32_t>(holder.pid()); });
        REQUIRE(remains.salvage().reason == SalvageReason::kOwnerAlive);
        REQUIRE(remains.ring_is_there());
    }
    SECTION("it lost the lock, because its program closed our descriptor, and still maps the ring") {
        Remains remains(static_cast<std::uint32_t>(getpid()));
        const int fd = open(remains.ring.c_str(), O_RDWR);
        void* memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
        close(fd);
        REQUIRE(remains.salvage().reason == SalvageReason::kOwnerAlive);
        munmap(memory, 4096);
        REQUIRE(remains.salvage().reason == SalvageReason::kDone);
    }
    SECTION("somebody holds the trace") {
        Remains remains;
        const LockHolder holder(remains.trace);
        REQUIRE(remains.salvage().reason == SalvageReason::kTraceBusy);
        REQUIRE(remains.ring_is_there());
    }
}

TEST_CASE("a ring that another process is emptying is waited for by who asks for it, and by nobody else") {
    Remains remains;
    sink::SalvageFilter filter;
    filter.nonce = remains.nonce();
    auto holder = std::make_unique<LockHolder>(remains.ring);
    REQUIRE(remains.salvage().reason == SalvageReason::kFiltered);
    REQUIRE(remains.ring_is_there());
    std::thread other([&] { holder.reset(); });
    REQUIRE(remains.salvage(filter).reason == SalvageReason::kDone);
    other.join();
    // One that does not come to an end.
    Remains stuck;
    filter.nonce = stuck.nonce();
    const LockHolder for_ever(stuck.ring);
    const sink::SalvageResult result = stuck.salvage(filter);
    REQUIRE(result.reason == SalvageReason::kBeingTaken);
    REQUIRE(result.trace_path == stuck.trace);
}

TEST_CASE("a ring whose owner had flushed everything is only removed") {
    Remains remains;
    remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->owner_state.store(1); });
    REQUIRE(remains.salvage().reason == SalvageReason::kEnded);
    REQUIRE_FALSE(remains.ring_is_there());
    REQUIRE(remains.trace_bytes() == remains.committed_bytes);
}

TEST_CASE("only what was asked for is taken") {
    Remains remains;
    sink::SalvageFilter filter;
    filter.run_id = 8;
    REQUIRE(remains.salvage(filter).reason == SalvageReason::kFiltered);
    filter = {};
    filter.nonce = remains.nonce() + 1;
    REQUIRE(remains.salvage(filter).reason == SalvageReason::kFiltered);
    filter = {};
    filter.boot_id = "another boot";
    REQUIRE(remains.salvage(filter).reason == SalvageReason::kFiltered);
    REQUIRE(remains.ring_is_there());
    filter.boot_id = "boot";
    filter.run_id = 9;
    filter.nonce = remains.nonce();
    REQUIRE(remains.salvage(filter).reason == SalvageReason::kDone);
}

TEST_CASE("a ring without its trace is removed, and nothing else is touched") {
    Remains remains;
    SECTION("no file") {
        REQUIRE(unlink(remains.trace.c_str()) == 0);
    }
    SECTION("another recording's trace") {
        REQUIRE(unlink(remains.trace.c_str()) == 0);
        TestWriter other(remains.trace, 99);
    }
    SECTION("not a trace") {
        write_text(remains.trace, "my notes");
    }
    SECTION("a link to it") {
        std::filesystem::rename(remains.trace, remains.folder.file("moved"));
        REQUIRE(symlink("moved", remains.trace.c_str()) == 0);
    }
    std::error_code none;
    const bool there = std::filesystem::exists(remains.trace, none);
    const auto before = there ? read_bytes(remains.trace) : std::vector<std::uint8_t>{};
    REQUIRE(remains.salvage().reason == SalvageReason::kNoTrace);
    REQUIRE_FALSE(remains.ring_is_there());
    REQUIRE((!there || read_bytes(remains.trace) == before));
}

TEST_CASE("what is no sound ring file is left where it is") {
    Remains remains;
    SECTION("another magic") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->magic ^= 1; });
    }
    SECTION("empty") {
        std::filesystem::resize_file(remains.ring, 0);
    }
    SECTION("cut in the header") {
        std::filesystem::resize_file(remains.ring, 1000);
    }
    SECTION("another header size") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->header_bytes += 8; });
    }
    SECTION("a ring size that is no power of two") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->ring_bytes = 12345; });
    }
    SECTION("a ring size beyond all bounds") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->ring_bytes = std::uint64_t{1} << 40; });
    }
    SECTION("a stride smaller than a ring") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->ring_stride = 64; });
    }
    SECTION("a stride beyond all bounds") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->ring_stride = ~std::uint64_t{0}; });
    }
    SECTION("rings before the end of the API table") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->rings_offset = 1000; });
    }
    SECTION("rings beyond the end of the file") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->rings_offset = std::uint64_t{1} << 60; });
    }
    SECTION("more APIs than there can be") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->api_count = 0xffffffff; });
    }
    SECTION("more rings than there can be") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->ring_count.store(5000); });
    }
    SECTION("a path without an end") {
        remains.damage(
            [](abi::MapHeader* map, abi::RingHeader*) { std::memset(map->trace_path, '/', abi::kPathBytes); });
    }
    SECTION("a relative path") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->trace_path[0] = 'x'; });
    }
    SECTION("a folder") {
        REQUIRE(unlink(remains.ring.c_str()) == 0);
        REQUIRE(mkdir(remains.ring.c_str(), 0700) == 0);
    }
    SECTION("a link to a ring") {
        std::filesystem::rename(remains.ring, remains.folder.file("moved"));
        REQUIRE(symlink("moved", remains.ring.c_str()) == 0);
    }
    REQUIRE(remains.salvage().reason == SalvageReason::kNotARing);
    REQUIRE(remains.ring_is_there());
    REQUIRE(remains.trace_bytes() == remains.committed_bytes);
}

TEST_CASE("what a process left before it was a ring is removed, and nothing of a living one") {
    TempFolder folder;
    const std::string dead = folder.file("gpuspy.99999999.0123456789abcdef");
    const std::string dead_blank = folder.file("gpuspy.99999999.1123456789abcdef");
    const std::string living = folder.file("gpuspy." + std::to_string(getpid()) + ".0123456789abcdef");
    const std::string other = folder.file("gpuspy.99999999.notes");
    const std::string full = folder.file("gpuspy.99999999.2123456789abcdef");
    for (const std::string& path : {dead, living, other}) {
        write_text(path, "");
    }
    write_text(dead_blank, std::string(16384, '\0'));
    write_text(full, std::string(16384, 'x'));
    for (const std::string& path : {dead, dead_blank, living, other, full}) {
        REQUIRE(sink::salvage_ring(path.c_str(), {}).reason == SalvageReason::kNotARing);
    }
    REQUIRE_FALSE(std::filesystem::exists(dead));
    REQUIRE_FALSE(std::filesystem::exists(dead_blank));
    REQUIRE(std::filesystem::exists(living));
    REQUIRE(std::filesystem::exists(other));
    REQUIRE(std::filesystem::exists(full));
}

TEST_CASE("a newer layout is told as such") {
    Remains remains;
    remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->layout_version = abi::kRingLayoutVersion + 1; });
    REQUIRE(remains.salvage().reason == SalvageReason::kOtherVersion);
    REQUIRE(remains.ring_is_there());
}

TEST_CASE("a ring of an older layout is removed unread, where nobody uses it and that is allowed") {
    Remains remains;
    remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->layout_version = abi::kRingLayoutVersion - 1; });
    const std::string other_name = remains.ring;
    char path[1024];
    REQUIRE(ring::build_ring_path(remains.folder.path().c_str(), 0x7ffffff0, remains.nonce(), path, sizeof path));
    std::filesystem::rename(remains.ring, path);
    remains.ring = path;
    sink::SalvageFilter any;
    any.removes_older = true;
    SECTION("removed") {
        const std::uint64_t bytes = std::filesystem::file_size(path);
        const std::uint64_t trace_bytes = remains.trace_bytes();
        const sink::SalvageResult result = remains.salvage(any);
        REQUIRE(result.reason == SalvageReason::kRemovedUnread);
        REQUIRE(result.removed_bytes == bytes);
        REQUIRE_FALSE(remains.ring_is_there());
        REQUIRE(remains.trace_bytes() == trace_bytes);
        return;
    }
    SECTION("not by a host, nor by who asks for one run") {
        any.removes_older = GENERATE(false, true);
        any.run_id = any.removes_older ? 9 : 0;
        REQUIRE(remains.salvage(any).reason == SalvageReason::kOtherVersion);
    }
    SECTION("not one of a newer layout") {
        remains.damage(
            [](abi::MapHeader* map, abi::RingHeader*) { map->layout_version = abi::kRingLayoutVersion + 1; });
        REQUIRE(remains.salvage(any).reason == SalvageReason::kOtherVersion);
    }
    SECTION("not a file that has another name") {
        std::filesystem::rename(path, other_name);
        remains.ring = other_name;
        REQUIRE(remains.salvage(any).reason == SalvageReason::kOtherVersion);
    }
    SECTION("not a file of another kind") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->magic = 7; });
        REQUIRE(remains.salvage(any).reason == SalvageReason::kNotARing);
    }
    SECTION("not one that a living process has locked") {
        const LockHolder owner(path);
        REQUIRE(remains.salvage(any).reason == SalvageReason::kOwnerAlive);
    }
    SECTION("not one that a living process maps, whatever its pid: a daemon has closed its descriptors") {
        int ready[2];
        REQUIRE(pipe(ready) == 0);
        const pid_t owner = fork();
        if (owner == 0) {
            const int fd = open(path, O_RDWR);
            void* map = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            close(fd);
            const char result = map == MAP_FAILED ? 'n' : 'y';
            [[maybe_unused]] const ssize_t told = write(ready[1], &result, 1);
            pause();
            _exit(0);
        }
        char result = 'n';
        REQUIRE(read(ready[0], &result, 1) == 1);
        REQUIRE(result == 'y');
        const SalvageReason reason = remains.salvage(any).reason;
        kill(owner, SIGKILL);
        waitpid(owner, nullptr, 0);
        close(ready[0]);
        close(ready[1]);
        REQUIRE(reason == SalvageReason::kOtherVersion);
    }
    REQUIRE(remains.ring_is_there());
}

TEST_CASE("a ring whose content is damaged gives what is sound before the damage") {
    Remains remains;
    const auto position = [](abi::RingHeader* ring) { return ring->committed[1] / 8; };
    std::size_t calls = 1;
    std::uint32_t corrupt = 1;
    SECTION("an event of no words") {
        remains.damage([&](abi::MapHeader*, abi::RingHeader* ring) { ring::data(ring)[position(ring)] = 0; });
    }
    SECTION("a head far beyond") {
        remains.damage([](abi::MapHeader*, abi::RingHeader* ring) { ring->head.store(~std::uint64_t{7}); });
    }
    SECTION("a head before what was committed") {
        remains.damage([](abi::MapHeader*, abi::RingHeader* ring) { ring->head.store(8); });
    }
    SECTION("a position that is no event") {
        remains.damage([](abi::MapHeader*, abi::RingHeader* ring) { ring->committed[1] += 3; });
    }
    SECTION("an API beyond the table") {
        remains.damage([&](abi::MapHeader*, abi::RingHeader* ring) {
            reinterpret_cast<abi::EventHeader*>(ring::data(ring) + position(ring))->api = 77;
        });
        corrupt = 0;
    }
    SECTION("an open call beyond the table") {
        remains.damage([](abi::MapHeader*, abi::RingHeader* ring) { ring->open_api.store(77); });
        calls = 2;
        corrupt = 0;
    }
    SECTION("a second ring that the file does not hold") {
        remains.damage([](abi::MapHeader* map, abi::RingHeader*) { map->ring_count.store(2); });
        calls = 2;
        corrupt = 0;
    }
    const sink::SalvageResult result = remains.salvage();
    REQUIRE(result.reason == SalvageReason::kDone);
    REQUIRE(result.corrupt_rings == corrupt);
    const TraceDump dump = dump_file(remains.trace);
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("call").size() == calls);
    REQUIRE(dump.of("end") == Lines{"end kind 2 detail 0"});
}

TEST_CASE("a committed size that lies cuts nothing but torn ends") {
    Remains remains;
    const std::uint64_t lie = GENERATE(std::uint64_t{0}, std::uint64_t{70}, ~std::uint64_t{0});
    remains.damage([&](abi::MapHeader* map, abi::RingHeader*) { map->committed_file_bytes[1] = lie; });
    REQUIRE(remains.salvage().reason == SalvageReason::kDone);
    const TraceDump dump = dump_file(remains.trace);
    REQUIRE(dump.fault.empty());
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("call").size() == (lie > 1000 ? 2 : 1));
}

TEST_CASE("every ring of a run in a folder is salvaged, others are not") {
    Remains first;
    Remains second;
    Remains other;
    other.damage([](abi::MapHeader* map, abi::RingHeader*) { map->run_id = 10; });
    TempFolder shared;
    std::filesystem::copy(first.ring, shared.file("gpuspy.1.a"));
    std::filesystem::copy(second.ring, shared.file("gpuspy.2.b"));
    std::filesystem::copy(other.ring, shared.file("gpuspy.3.c"));
    write_text(shared.file("gpuspy.notes"), "mine");
    std::filesystem::copy(first.ring, shared.file("unrelated"));
    sink::SalvageFilter filter;
    filter.run_id = 9;
    std::uint32_t told = 0;
    const auto report = [](void* self, const sink::SalvageResult&) { ++*static_cast<std::uint32_t*>(self); };
    REQUIRE(sink::salvage_directory(shared.path().c_str(), filter, report, &told) == 2);
    REQUIRE(told == 2);
    REQUIRE(access(shared.file("gpuspy.1.a").c_str(), F_OK) != 0);
    REQUIRE(access(shared.file("gpuspy.2.b").c_str(), F_OK) != 0);
    REQUIRE(access(shared.file("gpuspy.3.c").c_str(), F_OK) == 0);
    REQUIRE(access(shared.file("gpuspy.notes").c_str(), F_OK) == 0);
    REQUIRE(access(shared.file("unrelated").c_str(), F_OK) == 0);
    REQUIRE(dump_file(second.trace).of("call").size() == 2);
    REQUIRE(sink::salvage_directory("/nonexistent", filter, report, &told) == 0);
}

TEST_CASE("a caller that must go on takes no more rings than its limit, and the next one the rest") {
    std::vector<Remains> remains(5);
    TempFolder shared;
    for (std::size_t i = 0; i < remains.size(); ++i) {
        std::filesystem::copy(remains[i].ring, shared.file(("gpuspy.1." + std::to_string(i)).c_str()));
    }
    for (int i = 0; i < 40; ++i) {
        write_text(shared.file(("gpuspy.notes" + std::to_string(i)).c_str()), "mine");
    }
    const auto report = [](void*, const sink::SalvageResult&) {};
    const auto salvage = [&](const sink::SalvageLimit& limit) {
        return sink::salvage_directory(shared.path().c_str(), {}, report, nullptr, limit);
    };
    REQUIRE(salvage({~0U, 0}) == 0);
    REQUIRE(salvage({2, ~std::uint64_t{0}}) == 2);
    REQUIRE(salvage({2, ~std::uint64_t{0}}) == 2);
    REQUIRE(salvage({2, ~std::uint64_t{0}}) == 1);
    for (const Remains& one : remains) {
        REQUIRE(dump_file(one.trace).of("end").size() == 1);
    }
}

TEST_CASE("a trace that was moved is found by its recording") {
    Remains remains;
    char name[64];
    std::snprintf(name, sizeof name, "gpuspy.42.%016lx", remains.nonce());  // The header names pid 42.
    TempFolder shared;
    std::filesystem::copy(remains.ring, shared.file(name));
    const std::string moved = remains.folder.file("moved.bin");
    std::filesystem::rename(remains.trace, moved);
    REQUIRE(sink::salvage_for_trace(moved.c_str(), shared.path().c_str()).reason == SalvageReason::kDone);
    REQUIRE(dump_file(moved).of("call").size() == 2);
    REQUIRE(sink::salvage_for_trace(moved.c_str(), shared.path().c_str()).reason == SalvageReason::kNotARing);
    REQUIRE(sink::salvage_for_trace("/nonexistent", shared.path().c_str()).reason == SalvageReason::kNotARing);
}

TEST_CASE("a wait status is appended in a segment of its own") {
    Remains remains;
    std::ofstream(remains.trace, std::ios::app | std::ios::binary) << "torn";
    REQUIRE(sink::append_wait_status(remains.trace.c_str(), 42, 139) == 0);
    const TraceDump dump = dump_file(remains.trace);
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("block") == Lines{"block 0.0", "block 1.0"});
    REQUIRE(dump.of("end") == Lines{"end kind 1 detail 139"});
}

TEST_CASE("a wait status goes into no file but a trace that nobody holds") {
    TempFolder folder;
    write_text(folder.file("notes"), "mine");
    REQUIRE(sink::append_wait_status(folder.file("notes").c_str(), 1, 0) == EINVAL);
    REQUIRE(read_bytes(folder.file("notes")).size() == 4);
    REQUIRE(sink::append_wait_status(folder.file("none").c_str(), 1, 0) == ENOENT);
    REQUIRE(sink::append_wait_status("/dev/null", 1, 0) == EPERM);
    Remains remains;
    const LockHolder holder(remains.trace);
    REQUIRE(sink::append_wait_status(remains.trace.c_str(), 1, 0) == EAGAIN);
}

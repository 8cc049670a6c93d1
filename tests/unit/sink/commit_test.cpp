// The commit protocol of abi/ring_layout.hpp: wherever the owner dies, the salvaged trace has every event once.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <set>

#include "collector/sink/drain.hpp"
#include "collector/sink/salvage.hpp"
#include "tests/unit/sink/fixtures.hpp"
#include "tests/unit/sink/trace_dump.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using sink::PassStep;

namespace {

constexpr std::uint64_t kRingBytes = 16384;
constexpr std::uint64_t kCalls = 30;

constexpr std::uint64_t kFirstLateCall = 1000;

/// Where the child dies: in this step of this pass.
struct Death {
    int pass;
    PassStep step;
    int current_pass = 0;
    abi::RingHeader* rings[2] = {};
};

/// Dies with both rings full: had the space been given back too early, events that no trace has would be overwritten.
void die_at(void* self, PassStep step) noexcept {
    const auto* death = static_cast<const Death*>(self);
    if (death->current_pass == death->pass && death->step == step) {
        for (abi::RingHeader* ring : death->rings) {
            for (std::uint64_t i = kFirstLateCall; CallBuilder(0, i, i + 1).correlation(i).put(ring, kRingBytes); ++i) {
            }
        }
        kill(getpid(), SIGKILL);
    }
}

/// Two threads' rings, kCalls calls each with distinct correlations; ten before each of three passes. Dies on the way.
void record_and_die(const std::string& trace, std::uint64_t nonce, Death death) {
    TestRings rings(trace, nonce, kRingBytes);
    TestWriter writer(trace, rings.set.header()->nonce);
    sink::Drain drain;
    sink::DrainConfig config;
    config.at_step = die_at;
    config.at_step_self = &death;
    if (drain.init(rings.set, writer.writer, {}, config) != 0) {
        _exit(1);
    }
    death.rings[0] = rings.set.claim(501, 1);
    death.rings[1] = rings.set.claim(502, 1);
    for (std::uint64_t i = 0; i < kCalls; ++i) {
        for (std::uint64_t t = 0; t < 2; ++t) {
            CallBuilder(0, i, i + 1).correlation(t * kCalls + i).put(death.rings[t], kRingBytes);
        }
        ring::count_drop(death.rings[0]);
        if (i % 10 == 9) {
            death.current_pass = static_cast<int>(i / 10);
            drain.run_pass(false);
        }
    }
    _exit(0);
}

std::string ring_path(pid_t pid, std::uint64_t nonce) {
    char path[64];
    std::snprintf(path, sizeof path, "/dev/shm/gpuspy.%d.%016lx", pid, nonce << 32 | static_cast<unsigned>(pid));
    return path;
}

}  // namespace

TEST_CASE("wherever the owner dies, the salvaged trace has every event once") {
    const int pass = GENERATE(0, 1, 2);
    const PassStep step = GENERATE(PassStep::kEncoded, PassStep::kAppended, PassStep::kSlotStored, PassStep::kCommitted,
                                   PassStep::kTailsMoved);
    const bool salvager_dies_first = GENERATE(false, true);
    CAPTURE(pass, static_cast<int>(step), salvager_dies_first);
    TempFolder folder;
    const std::string trace = folder.file("trace.bin");
    const pid_t child = fork();
    if (child == 0) {
        record_and_die(trace, 3, {pass, step});
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    if (GENERATE(false, true)) {
        // Death in the middle of an append: the file is longer than what was committed, by no whole block.
        std::ofstream(trace, std::ios::app | std::ios::binary) << "GBLK torn";
    }
    const std::string ring = ring_path(child, 3);
    if (salvager_dies_first) {
        // A first salvager did all but unlink the ring: the second one starts from the same commit.
        const std::string kept = folder.file("ring");
        std::filesystem::copy_file(ring, kept);
        std::filesystem::permissions(kept, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        REQUIRE(sink::salvage_ring(ring.c_str(), {}).reason == sink::SalvageReason::kDone);
        std::filesystem::rename(kept, folder.file("ring2"));
        REQUIRE(sink::salvage_ring(folder.file("ring2").c_str(), {}).reason == sink::SalvageReason::kDone);
    } else {
        REQUIRE(sink::salvage_ring(ring.c_str(), {}).reason == sink::SalvageReason::kDone);
    }
    REQUIRE(access(ring.c_str(), F_OK) != 0);

    const TraceDump dump = dump_file(trace);
    REQUIRE_FALSE(dump.partial);
    std::multiset<std::uint64_t> found;
    std::uint64_t late[2] = {kFirstLateCall, kFirstLateCall};
    for (const std::string& line : dump.of("call")) {
        const std::uint64_t correlation = std::stoull(line.substr(line.find("corr ") + 5));
        const bool is_first = line.rfind("call ring 0 tid 501 ", 0) == 0;
        REQUIRE((is_first || line.rfind("call ring 1 tid 502 ", 0) == 0));
        if (correlation >= kFirstLateCall) {
            REQUIRE(correlation == late[is_first ? 0 : 1]++);
        } else {
            REQUIRE(is_first == (correlation < kCalls));
            found.insert(correlation);
        }
    }
    std::multiset<std::uint64_t> expected;
    const std::uint64_t written = static_cast<std::uint64_t>(pass + 1) * 10;
    for (std::uint64_t i = 0; i < written; ++i) {
        expected.insert(i);
        expected.insert(kCalls + i);
    }
    REQUIRE(found == expected);
    REQUIRE(late[0] > kFirstLateCall + 300);  // Of the 341 that an empty ring takes.
    REQUIRE(late[1] == late[0]);
    // Each ring refused one late call; the first one's count had one for each of its calls before.
    REQUIRE(dump.has("loss cause 0 count " + std::to_string(written + 1) + " thread 1"));
    REQUIRE(dump.has("loss cause 0 count 1 thread 2"));
    REQUIRE(dump.of("end") == std::vector<std::string>{"end kind 2 detail 0"});
    REQUIRE(dump.salvaged_blocks == 1);
}

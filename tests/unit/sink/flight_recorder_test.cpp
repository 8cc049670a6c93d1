#include "collector/sink/flight_recorder.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <random>

#include "collector/ring/clock.hpp"
#include "collector/sink/drain.hpp"
#include "collector/sink/kept_limit.hpp"
#include "collector/sink/lasting_facts.hpp"
#include "collector/sink/salvage.hpp"
#include "tests/unit/sink/fixtures.hpp"
#include "tests/unit/sink/trace_dump.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using Lines = std::vector<std::string>;

namespace {

constexpr std::uint64_t kRingBytes = 16384;
constexpr std::uint64_t kLimitBytes = 1U << 20;
constexpr std::uint64_t kNonce = 0x77;
constexpr std::uint64_t kFunction = 0xf00d;
constexpr std::uint64_t kExec = 0xe0ec;

/// Word by word, as a hook writes it.
void put_words(abi::RingHeader* ring, const void* event, std::size_t bytes) {
    const auto words = static_cast<std::uint32_t>((bytes + 7) / 8);
    std::uint64_t* at = ring::reserve(ring, kRingBytes, words);
    REQUIRE(at != nullptr);
    std::memcpy(at, event, bytes);
    ring::commit(ring, at);
}

/// A recording with a flight recorder, driven pass by pass. Call number n begins at tick kFirst + n.
struct Recorder {
    static constexpr std::uint64_t kFirst = 1000;
    TempFolder folder;
    std::string path = folder.file("trace.bin");
    TestRings rings{path, kNonce, kRingBytes};
    std::vector<std::uint8_t> header = header_bytes(rings.set.header()->nonce, small_process());
    struct Complaints {
        int count = 0;
        int error = 0;
        sink::WriteFault fault = sink::WriteFault::kWrite;
    } complaints;
    TestWriter writer{path, rings.set.header()->nonce, 0,
                      [](void* self, int error, sink::WriteFault fault) noexcept {
                          auto* to = static_cast<Complaints*>(self);
                          *to = {to->count + 1, error, fault};
                      },
                      &complaints};
    sink::Drain drain;
    sink::DrainConfig config;
    abi::RingHeader* ring = rings.set.claim(501, 1);
    std::mt19937_64 random{1};
    std::uint64_t calls = 0;

    explicit Recorder(sink::KeptLimit limit) {
        config.kept = limit;
        config.header = header.data();
        config.header_bytes = header.size();
    }
    ~Recorder() { drain.destroy(); }
    void init() { REQUIRE(drain.init(rings.set, writer.writer, {}, config) == 0); }

    /// Callers that do not compress: so that blocks have a size.
    void put_calls(int count) {
        for (int i = 0; i < count; ++i) {
            const std::uint64_t begin = kFirst + calls;
            REQUIRE(CallBuilder(0, begin, begin + 1).caller(random()).correlation(calls + 1).put(ring, kRingBytes));
            ++calls;
        }
    }
    /// Of its successors.
    void take_all_names(const std::string& text) const {
        for (int number = 0; number < 10; ++number) {
            write_text(path + ".next" + (number == 0 ? "" : "." + std::to_string(number)), text);
        }
    }
    [[nodiscard]] std::uint64_t bytes_on_disk() const {
        std::uint64_t bytes = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
            const std::string name = entry.path().filename().string();
            bytes += name.rfind("trace.bin", 0) == 0 ? entry.file_size() : 0;
        }
        return bytes;
    }
    /// What a salvager makes of it if the process dies now.
    [[nodiscard]] TraceDump after_death(const std::string& name) const {
        const std::string copy = folder.file("copy" + name);
        const std::string dead_ring = folder.file("ring" + name);
        std::filesystem::copy_file(path, copy);
        std::vector<std::uint8_t> bytes = read_bytes(rings.set.path());
        reinterpret_cast<abi::MapHeader*>(bytes.data())->pid = 0x7ffffff0;
        write_text(dead_ring, {bytes.begin(), bytes.end()});
        sink::SalvageFilter filter;
        filter.trace_path = copy.c_str();
        const sink::SalvageResult result = sink::salvage_ring(dead_ring.c_str(), filter);
        REQUIRE(result.reason == sink::SalvageReason::kDone);
        const TraceDump dump = dump_file(copy);
        std::filesystem::remove(copy);
        return dump;
    }
};

/// The numbers of the calls, in the order of the file.
std::vector<std::uint64_t> numbers(const TraceDump& dump) {
    std::vector<std::uint64_t> found;
    for (const std::string& line : dump.of("call")) {
        const std::size_t at = line.find(" cuLaunchKernel ");
        REQUIRE(at != std::string::npos);
        found.push_back(std::stoull(line.substr(at + 16)) - Recorder::kFirst);
    }
    return found;
}

std::uint64_t dropped_calls(const TraceDump& dump) {
    const Lines kept = dump.of("kept");
    return kept.empty() ? 0 : std::stoull(kept.front().substr(std::string("kept calls ").size()));
}

/// Whatever was cut: the calls in the file are the last ones without a gap, and the file says how many came before.
void require_last(const TraceDump& dump, std::uint64_t calls) {
    REQUIRE_FALSE(dump.partial);
    const std::vector<std::uint64_t> found = numbers(dump);
    const std::uint64_t dropped = dropped_calls(dump);
    REQUIRE(found.size() + dropped == calls);
    for (std::size_t i = 0; i < found.size(); ++i) {
        REQUIRE(found[i] == dropped + i);
    }
}

}  // namespace

TEST_CASE("limits of a flight recorder") {
    sink::KeptLimit limit;
    REQUIRE(sink::parse_kept_limit("30s", &limit) == nullptr);
    REQUIRE(limit.ns == 30'000'000'000);
    REQUIRE(limit.bytes == sink::kDefaultKeptBytes);
    REQUIRE(sink::parse_kept_limit("256M", &limit) == nullptr);
    REQUIRE(limit.ns == 0);
    REQUIRE(limit.bytes == 256U << 20);
    REQUIRE(sink::parse_kept_limit("10min,2G", &limit) == nullptr);
    REQUIRE(limit.ns == 600'000'000'000);
    REQUIRE(limit.bytes == 2ULL << 30);
    REQUIRE(sink::parse_kept_limit("168h", &limit) == nullptr);
    const std::string time = "is out of range: a time is from 1s to 168h";
    const std::string size = "is out of range: a size is from 4M to 1024G";
    const std::string twice = "has two times or two sizes: say one of each at most";
    const std::string neither = sink::kNoKeptLimit;
    REQUIRE(neither == std::string("is not ") + sink::kKeptLimitForms);
    for (const auto& [wrong, why] : std::vector<std::pair<const char*, std::string>>{
             {"", neither},     {"30", neither},  {"s", neither},   {"30 s", neither},
             {"-1s", neither},  {"0s", time},     {"3M", size},     {"2T", neither},
             {"1s,2s", twice},  {"1s,", neither}, {",1s", neither}, {"169h", time},
             {"1.5s", neither}, {"30S", neither}, {"1025G", size},  {"99999999999999999999s", time},
             {"8G,4G", twice},  {"1s,1M", size},  {"0M", size},     {"99999999999999999999M", size}}) {
        INFO(wrong);
        limit = {7, 8};
        const char* said = sink::parse_kept_limit(wrong, &limit);
        REQUIRE(said != nullptr);
        REQUIRE(said == why);
        REQUIRE(limit.ns == 7);
        REQUIRE(limit.bytes == 8);
    }
    for (const char* least_and_most : {"1s", "4M", "1024G", "604800s", "10080min"}) {
        REQUIRE(sink::parse_kept_limit(least_and_most, &limit) == nullptr);
    }
}

TEST_CASE("a flight recorder keeps the last calls within its size, whenever the process dies") {
    Recorder recorder({0, kLimitBytes});
    struct Sampler {
        Recorder* recorder;
        std::uint64_t steps = 0, samples = 0;
        std::uint64_t exchanges = 0;
    } sampler{&recorder};
    recorder.config.at_step_self = &sampler;
    recorder.config.at_step = [](void* self, sink::PassStep) noexcept {
        auto* taken = static_cast<Sampler*>(self);
        REQUIRE(taken->recorder->bytes_on_disk() <= kLimitBytes);
        const std::uint64_t exchanged = taken->recorder->rings.set.header()->committed_exchange[0] +
                                        taken->recorder->rings.set.header()->committed_exchange[1];
        const bool is_exchange = exchanged != taken->exchanges;
        taken->exchanges = exchanged;
        if (is_exchange || ++taken->steps % 97 == 0) {
            require_last(taken->recorder->after_death(std::to_string(++taken->samples)), taken->recorder->calls);
        }
    };
    recorder.init();
    while (recorder.rings.set.header()->committed_exchange[0] < 5) {
        recorder.put_calls(200);
        recorder.drain.run_pass(false);
        REQUIRE(recorder.calls < 1'000'000);
    }
    REQUIRE(sampler.samples > 10);
    recorder.put_calls(3);
    recorder.drain.run_pass(true);
    REQUIRE_FALSE(std::filesystem::exists(recorder.path + ".next"));
    const TraceDump dump = dump_file(recorder.path);
    require_last(dump, recorder.calls);
    REQUIRE(dump.of("end").size() == 1);
    // A third of the limit at least, of calls of some 15 bytes.
    REQUIRE(numbers(dump).size() > kLimitBytes / 3 / 30);
    struct stat status {};
    REQUIRE(stat(recorder.path.c_str(), &status) == 0);
    REQUIRE((status.st_mode & 0777) == 0600);
}

TEST_CASE("what was said once is said again in the part that is kept") {
    Recorder recorder({0, kLimitBytes});
    recorder.init();
    // A captured launch inside a library call; a graph of it; the name of its function.
    REQUIRE(CallBuilder(0, 10, 11).depth(1).caller(0xaaa).launch_id(77).put(recorder.ring, kRingBytes));
    REQUIRE(CallBuilder(1, 9, 12).caller(0xbbb).put(recorder.ring, kRingBytes));
    // One that no graph was made of.
    REQUIRE(CallBuilder(0, 13, 14).caller(0xccc).launch_id(78).put(recorder.ring, kRingBytes));
    struct {
        abi::NameEvent event{{5, abi::EventType::kName, 0, 0, 0}, 5, kFunction, 4, 0};
        char name[8] = "addf";
    } name;
    put_words(recorder.ring, &name, sizeof name);
    for (const std::uint64_t ticks : {20U, 30U}) {  // The second replaces the first.
        abi::GraphExecEvent exec{{7, abi::EventType::kGraphExec, 0, 0, 0}, ticks, kExec, 3, 2, 0, 0, 0, 0, 0};
        put_words(recorder.ring, &exec, sizeof exec);
        for (std::uint32_t index = 0; index < 2; ++index) {
            struct {
                abi::GraphNodesEvent event;
                abi::GraphNode node;
            } nodes{{{7, abi::EventType::kGraphNodes, 0, 0, 0}, ticks, kExec, 1, 0}, {index, 0, kFunction, 77}};
            put_words(recorder.ring, &nodes, sizeof nodes);
        }
    }
    recorder.calls = 3;
    while (recorder.rings.set.header()->committed_exchange[0] < 2) {
        recorder.put_calls(200);
        recorder.drain.run_pass(false);
    }
    const TraceDump dump = dump_file(recorder.path);
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("name").size() == 1);
    REQUIRE(dump.of("name").front().find("addf") != std::string::npos);
    REQUIRE(dump.of("graph ") == Lines{"graph 30 e0ec id 3 nodes 2 0 0 0 flags 0"});
    REQUIRE(dump.of("graph_nodes") == Lines(2, "graph_nodes 30 e0ec count 1"));
    REQUIRE(dump.of("origin") == Lines{"origin 77 library none caller bbb ticks 9"});
    REQUIRE(dump.of("span").size() == 1);
    REQUIRE_FALSE(dump.of("object").empty());
    REQUIRE_FALSE(dump.of("anchor").empty());
    REQUIRE(dump.of("cpu").size() >= 1);
}

namespace {

void put_range(Recorder& recorder, const RangeBuilder& range) {
    put_words(recorder.ring, range.get(), std::size_t{range.get()->header.words} * 8);
}

}  // namespace

TEST_CASE("ranges that are open where the kept part begins are in it, as they began") {
    using abi::RangeKind;
    Recorder recorder({0, kLimitBytes});
    recorder.init();
    put_range(recorder, RangeBuilder(RangeKind::kPush, 10, 0, "d", "training"));
    put_range(recorder, RangeBuilder(RangeKind::kPush, 11, 1, "d", "over soon"));
    put_range(recorder, RangeBuilder(RangeKind::kPush, 12, 0, "", "other domain"));
    put_range(recorder, RangeBuilder(RangeKind::kStart, 13, 77, "d", "started"));
    put_range(recorder, RangeBuilder(RangeKind::kStart, 14, 78, "d", "ended"));
    put_range(recorder, RangeBuilder(RangeKind::kPop, 15, 1, "d"));
    put_range(recorder, RangeBuilder(RangeKind::kEnd, 16, 78));
    // Of another thread, whose ring is read later: the end comes before its start.
    put_range(recorder, RangeBuilder(RangeKind::kEnd, 18, 79));
    abi::RingHeader* second = recorder.rings.set.claim(502, 1);
    const RangeBuilder early(RangeKind::kStart, 17, 79, "d", "ended early");
    put_words(second, early.get(), std::size_t{early.get()->header.words} * 8);
    const RangeBuilder of_second(RangeKind::kPush, 19, 0, "d", "on the second");
    put_words(second, of_second.get(), std::size_t{of_second.get()->header.words} * 8);
    put_range(recorder, RangeBuilder(RangeKind::kMark, 20, 0, "d", "a mark"));
    while (recorder.rings.set.header()->committed_exchange[0] < 2) {
        recorder.put_calls(200);
        recorder.drain.run_pass(false);
    }
    put_range(recorder, RangeBuilder(RangeKind::kPop, 9'000'000, 0, "d"));
    recorder.drain.run_pass(true);
    const TraceDump dump = dump_file(recorder.path);
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("range ") == Lines{
                                     "range ring 0 tid 501 kind 0 10 depth 0 id 0 d/training",
                                     "range ring 0 tid 501 kind 0 12 depth 0 id 0 /other domain",
                                     "range ring 0 tid 501 kind 2 13 depth 0 id 77 d/started",
                                     "range ring 1 tid 502 kind 0 19 depth 0 id 0 d/on the second",
                                     "range ring 0 tid 501 kind 1 9000000 depth 0 id 0 d/",
                                 });
    // Eleven events came before, each counted once.
    REQUIRE(dump.of("kept").size() == 1);
    REQUIRE(dump.of("kept").front().find(" ranges 11 ") != std::string::npos);
}

TEST_CASE("pushes of a thread that has ended are not carried on, and more than there is room for are said") {
    using abi::RangeKind;
    Recorder recorder({0, kLimitBytes});
    recorder.init();
    put_range(recorder, RangeBuilder(RangeKind::kPush, 10, 0, "d", "never popped"));
    put_range(recorder, RangeBuilder(RangeKind::kStart, 11, 77, "d", "may end elsewhere"));
    recorder.drain.run_pass(false);
    ring::RingSet::release(recorder.ring);
    recorder.ring = recorder.rings.set.claim(503, 2);
    constexpr std::uint64_t kMany = sink::OpenRanges::kMost + 10;
    for (std::uint64_t level = 0; level < kMany; ++level) {
        put_range(recorder, RangeBuilder(RangeKind::kPush, 100 + level, level, "", "x"));
        if (level % 100 == 0) {
            recorder.drain.run_pass(false);
        }
    }
    while (recorder.rings.set.header()->committed_exchange[0] < 2) {
        recorder.put_calls(200);
        recorder.drain.run_pass(false);
    }
    const TraceDump dump = dump_file(recorder.path);
    REQUIRE_FALSE(dump.partial);
    const Lines ranges = dump.of("range ");
    REQUIRE(ranges.size() == sink::OpenRanges::kMost);
    REQUIRE(ranges.front() == "range ring 0 tid 501 kind 2 11 depth 0 id 77 d/may end elsewhere");
    REQUIRE(dump.of("notice").size() == 1);
}

TEST_CASE("a time keeps at least that much, and at most twice that") {
    Recorder recorder({1'000'000, kLimitBytes});  // 1 ms
    recorder.init();
    constexpr std::uint64_t kKeptNs = 1'000'000;
    std::uint64_t oldest_allowed = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> passes;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pass_times;
    // The first pass behind `from` that began so much later than that one had ended.
    const auto pass_after = [&](std::size_t from) {
        std::size_t at = from + 1;
        while (at < pass_times.size() && pass_times[at].first < pass_times[from].second + kKeptNs) {
            ++at;
        }
        return at;
    };
    for (int pass = 0; pass < 200; ++pass) {
        recorder.put_calls(10);
        const std::uint64_t begin_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
        recorder.drain.run_pass(false);
        // Calls of passes that began within the last millisecond are in the file.
        passes.emplace_back(begin_ns, recorder.calls - 10);
        const std::uint64_t now_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
        for (const auto& [at_ns, first] : passes) {
            if (at_ns + kKeptNs <= now_ns) {
                oldest_allowed = first + 10;
            }
        }
        const TraceDump dump = dump_file(recorder.path);
        require_last(dump, recorder.calls);
        REQUIRE(dropped_calls(dump) <= oldest_allowed);
        // The successor of a file that begins in a pass begins in the first one that is late enough, and takes its place likewise.
        pass_times.emplace_back(begin_ns, now_ns);
        const std::size_t successor = pass_after(dropped_calls(dump) / 10);
        REQUIRE((successor >= pass_times.size() || pass_after(successor) >= pass_times.size()));
    }
    REQUIRE(recorder.rings.set.header()->committed_exchange[0] > 1);
}

TEST_CASE("a successor that cannot be made costs the oldest nothing and the newest only beyond the limit") {
    Recorder recorder({0, kLimitBytes});
    const std::string text = GENERATE("somebody's", "");
    recorder.take_all_names(text);
    recorder.init();
    for (int pass = 0; pass < 600; ++pass) {
        recorder.put_calls(200);
        recorder.drain.run_pass(false);
    }
    REQUIRE(read_bytes(recorder.path + ".next").size() == text.size());
    REQUIRE(std::filesystem::file_size(recorder.path) <= kLimitBytes);
    const TraceDump dump = dump_file(recorder.path);
    const std::vector<std::uint64_t> found = numbers(dump);
    for (std::size_t i = 0; i < found.size() && i < 1000; ++i) {
        REQUIRE(found[i] == i);
    }
    REQUIRE(recorder.writer.writer.failed_bytes() > 0);
    REQUIRE(recorder.complaints.count == 1);
    REQUIRE(recorder.complaints.error == EEXIST);
    REQUIRE(recorder.complaints.fault == sink::WriteFault::kNextPart);
}

TEST_CASE("another's file where the successor would be: it has another name, and the time is kept") {
    Recorder recorder({1'000'000, kLimitBytes});  // 1 ms
    SECTION("a file") {
        write_text(recorder.path + ".next", "somebody's");
    }
    SECTION("a folder") {
        std::filesystem::create_directory(recorder.path + ".next");
    }
    SECTION("a link that leads nowhere") {
        std::filesystem::create_symlink("nowhere", recorder.path + ".next");
    }
    SECTION("a snapshot, which has the number of the part that it is a copy of") {
        std::vector<std::uint8_t> header = header_bytes(9, small_process());
        sink::set_exchange(header.data(), header.size(), 3);
        sink::mark_as_snapshot(header.data(), header.size(), 10);
        write_text(recorder.path + ".next", {header.begin(), header.end()});
    }
    const auto there = std::filesystem::symlink_status(recorder.path + ".next").type();
    recorder.init();
    bool was_seen = false;
    while (recorder.rings.set.header()->committed_exchange[0] < 3) {
        recorder.put_calls(10);
        recorder.drain.run_pass(false);
        was_seen = was_seen || std::filesystem::exists(recorder.path + ".next.1");
        REQUIRE(recorder.calls < 10'000'000);
    }
    REQUIRE(was_seen);
    recorder.drain.run_pass(true);
    require_last(dump_file(recorder.path), recorder.calls);
    REQUIRE(std::filesystem::symlink_status(recorder.path + ".next").type() == there);
    REQUIRE_FALSE(std::filesystem::exists(recorder.path + ".next.1"));
    REQUIRE(recorder.complaints.count == 0);
}

TEST_CASE("a file that is put in a successor's place is not renamed over the trace, nor removed") {
    Recorder recorder({1'000'000, kLimitBytes});  // 1 ms
    recorder.init();
    const std::string next = recorder.path + ".next";
    while (!std::filesystem::exists(next)) {
        recorder.put_calls(10);
        recorder.drain.run_pass(false);
    }
    std::filesystem::remove(next);
    write_text(next, "somebody's");
    while (recorder.rings.set.header()->committed_exchange[0] < 2) {
        recorder.put_calls(10);
        recorder.drain.run_pass(false);
        REQUIRE(recorder.calls < 10'000'000);
    }
    recorder.drain.run_pass(true);
    require_last(dump_file(recorder.path), recorder.calls);
    const auto left = read_bytes(next);
    REQUIRE(std::string(left.begin(), left.end()) == "somebody's");
}

TEST_CASE("a time, and no name for a successor: said once, and nothing is lost below the size") {
    Recorder recorder({1, kLimitBytes});
    recorder.take_all_names("somebody's");
    recorder.init();
    for (int pass = 0; pass < 20; ++pass) {
        recorder.put_calls(10);
        recorder.drain.run_pass(false);
    }
    REQUIRE(recorder.complaints.count == 1);
    REQUIRE(recorder.complaints.fault == sink::WriteFault::kNextPart);
    REQUIRE(recorder.writer.writer.failed_bytes() == 0);
    REQUIRE(numbers(dump_file(recorder.path)).size() == recorder.calls);
}

TEST_CASE("a successor never takes the place of another's file, nor leads through a link") {
    Recorder recorder({0, kLimitBytes});
    recorder.init();
    const std::string victim = recorder.folder.file("victim");
    write_text(victim, "precious");
    REQUIRE(symlink(victim.c_str(), (recorder.path + ".next").c_str()) == 0);
    for (int pass = 0; pass < 100; ++pass) {
        recorder.put_calls(200);
        recorder.drain.run_pass(false);
    }
    REQUIRE(read_bytes(victim).size() == 8);
    std::filesystem::remove(recorder.path + ".next");
    std::filesystem::rename(recorder.path, recorder.path + ".moved");
    write_text(recorder.path, "another's");
    for (int pass = 0; pass < 600; ++pass) {
        recorder.put_calls(200);
        recorder.drain.run_pass(false);
    }
    REQUIRE(read_bytes(recorder.path).size() == 9);
}

TEST_CASE("a successor of a dead process is removed, one of a live recording or of another is not") {
    TempFolder folder;
    const std::string trace = folder.file("trace.bin");
    const std::string next = trace + ".next";
    std::vector<std::uint8_t> header = header_bytes(5, small_process());
    sink::set_exchange(header.data(), header.size(), 1);
    write_text(next, {header.begin(), header.end()});
    sink::TraceIdentity of;
    of.nonce = 6;
    sink::remove_successor(trace.c_str(), of);
    REQUIRE(std::filesystem::exists(next));
    of.nonce = 5;
    of.exchange = 1;  // As in a copy of the trace: it is not the next one.
    sink::remove_successor(trace.c_str(), of);
    REQUIRE(std::filesystem::exists(next));
    of.exchange = 0;
    sink::remove_successor(trace.c_str(), of);
    REQUIRE_FALSE(std::filesystem::exists(next));
    write_text(next, "");
    sink::remove_successor(trace.c_str(), of);
    REQUIRE(std::filesystem::exists(next));
    write_text(next + ".9", {header.begin(), header.end()});
    sink::remove_successor(trace.c_str(), of);
    REQUIRE_FALSE(std::filesystem::exists(next + ".9"));
}

TEST_CASE("a wait status removes no file of the user beside the trace") {
    TempFolder folder;
    const std::string trace = folder.file("trace.bin");
    { TestWriter ended(trace, 5); }
    write_text(trace + ".next", "");
    REQUIRE(sink::append_wait_status(trace.c_str(), 42, 0) == 0);
    REQUIRE(std::filesystem::exists(trace + ".next"));
}

TEST_CASE("a successor is there with its header, or not at all") {
    TempFolder folder;
    const std::string path = folder.file("trace.bin.next");
    const std::vector<std::uint8_t> header = header_bytes(5, small_process());
    sink::TraceWriter successor;
    SECTION("room for it") {
        REQUIRE(successor.create_successor(path.c_str(), header.data(), header.size()) == 0);
        REQUIRE(read_bytes(path) == header);
        REQUIRE(successor.file_bytes() == header.size());
        struct stat status {};
        REQUIRE(stat(path.c_str(), &status) == 0);
        REQUIRE((status.st_mode & 0777) == 0600);
        REQUIRE(successor.create_successor(path.c_str(), header.data(), header.size()) == EEXIST);
    }
    SECTION("no room for it") {
        rlimit before{};
        REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
        const rlimit small{header.size() - 1, before.rlim_max};
        REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
        const int error = successor.create_successor(path.c_str(), header.data(), header.size());
        REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
        REQUIRE(error == EFBIG);
        REQUIRE(std::filesystem::is_empty(folder.path()));
    }
    successor.close();
}

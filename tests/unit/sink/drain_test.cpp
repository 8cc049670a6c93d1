#include "collector/sink/drain.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "collector/ring/clock.hpp"
#include "tests/unit/sink/fixtures.hpp"
#include "tests/unit/sink/trace_dump.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using Lines = std::vector<std::string>;

namespace {

std::uint32_t own_tid() {
    return static_cast<std::uint32_t>(syscall(SYS_gettid));
}

/// A source that hands over a number of kernels.
struct FakeDevice {
    std::uint32_t kernels = 0;
    int final_calls = 0;
    std::uint64_t clock = 5'000;

    sink::DeviceSource source() {
        sink::DeviceSource result;
        result.self = this;
        result.collect = [](void* self, sink::RecordSink& sink, bool final) noexcept {
            auto* device = static_cast<FakeDevice*>(self);
            device->final_calls += final ? 1 : 0;
            sink::KernelRecord kernel;
            kernel.name = "kernel";
            for (; device->kernels != 0; --device->kernels) {
                kernel.correlation = device->kernels;
                sink.kernel(kernel);
            }
        };
        result.clock_ns = [](void* self) noexcept { return static_cast<FakeDevice*>(self)->clock++; };
        result.callback_ns = [](void*) noexcept { return std::uint64_t{123}; };
        return result;
    }
};

struct Recording {
    TempFolder folder;
    std::string path = folder.file("trace.bin");
    TestRings rings;
    TestWriter writer;
    FakeDevice device;
    sink::Drain drain;
    sink::DrainConfig config;

    explicit Recording(std::uint64_t ring_bytes = 16384) : rings(path, 77, ring_bytes), writer(path) {
        config.create_thread = pthread_create;
        config.call_ps = 60'000;
    }
    ~Recording() { drain.destroy(); }
    void init() { REQUIRE(drain.init(rings.set, writer.writer, device.source(), config) == 0); }
    [[nodiscard]] TraceDump dump() const { return dump_file(path); }
};

CallBuilder call_at(std::uint64_t begin) {
    return CallBuilder(0, begin, begin + 1);
}

bool wait_until(const std::function<bool()>& condition) {
    const std::uint64_t deadline = ring::read_clock_ns(CLOCK_MONOTONIC) + 20'000'000'000;
    while (!condition()) {
        if (ring::read_clock_ns(CLOCK_MONOTONIC) > deadline) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

}  // namespace

TEST_CASE("a pass moves events and device records into the trace and frees the rings") {
    Recording recording;
    recording.init();
    abi::RingHeader* first = recording.rings.set.claim(own_tid(), 1);
    abi::RingHeader* second = recording.rings.set.claim(999'999, 1);
    REQUIRE(call_at(100).put(first, 16384));
    REQUIRE(call_at(200).put(second, 16384));
    REQUIRE(call_at(110).put(first, 16384));
    recording.device.kernels = 2;
    recording.drain.run_pass(false);
    REQUIRE(ring::fill_bytes(first) == 0);
    REQUIRE(ring::fill_bytes(second) == 0);
    const abi::MapHeader* header = recording.rings.set.header();
    REQUIRE(header->commit_seq.load() == 1);
    REQUIRE(header->committed_file_bytes[1] == recording.writer.writer.file_bytes());
    REQUIRE(first->committed[1] == first->head.load());
    const TraceDump dump = recording.dump();
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("call").size() == 3);
    REQUIRE(dump.of("device_record").size() == 2);
    REQUIRE(dump.has("span 0 on "));
    REQUIRE(dump.of("cpu") == Lines{"cpu callback 123"});
    REQUIRE(dump.has("cost calls 3 ps 60000"));
    REQUIRE(dump.of("end").empty());
}

TEST_CASE("a pass with nothing to say writes nothing") {
    Recording recording;
    recording.init();
    recording.drain.run_pass(false);
    const std::uint64_t bytes = recording.writer.writer.file_bytes();
    recording.drain.run_pass(false);
    REQUIRE(recording.writer.writer.file_bytes() == bytes);
}

TEST_CASE("the last pass says that the end was clean and takes a clock reading after the last device records") {
    Recording recording;
    recording.init();
    recording.device.kernels = 1;
    recording.drain.run_pass(true);
    REQUIRE(recording.device.final_calls == 1);
    const TraceDump dump = recording.dump();
    REQUIRE(dump.lines.back() == "end kind 0 detail 0");
    REQUIRE(dump.has("span 0 off end of recording"));
    const auto last = [&](const std::string& word) {
        return std::find(dump.lines.rbegin(), dump.lines.rend(), dump.of(word).back());
    };
    REQUIRE(last("anchor") < last("device_record"));
}

TEST_CASE("anchors hold every clock, tight, and come with each segment") {
    Recording recording;
    recording.config.segment_bytes = 1;
    recording.init();
    const std::uint64_t before = ring::read_clock_ns(CLOCK_MONOTONIC);
    recording.drain.run_pass(false);
    recording.drain.run_pass(false);
    const std::uint64_t after = ring::read_clock_ns(CLOCK_MONOTONIC);
    const TraceDump dump = recording.dump();
    REQUIRE(dump.of("block") == Lines{"block 0.0", "block 1.0"});
    REQUIRE(dump.of("anchor").size() == 2);
    std::uint64_t ticks = 0;
    std::uint64_t monotonic = 0;
    std::uint64_t realtime = 0;
    std::uint64_t device = 0;
    std::uint64_t uncertainty = 0;
    REQUIRE(std::sscanf(dump.of("anchor").at(0).c_str(), "anchor %lu %lu %lu %lu %lu", &ticks, &monotonic, &realtime,
                        &device, &uncertainty) == 5);
    REQUIRE(monotonic >= before);
    REQUIRE(monotonic <= after);
    REQUIRE(realtime > 1'700'000'000'000'000'000);
    REQUIRE(device >= 5'000);
    REQUIRE(device < 5'005);
    REQUIRE(uncertainty < 10'000'000);
}

TEST_CASE("mapped objects are told once, with the program among them") {
    Recording recording;
    recording.init();
    recording.drain.run_pass(false);
    const Lines objects = recording.dump().of("object");
    const auto holds = [&](const std::string& text) {
        return std::any_of(objects.begin(), objects.end(),
                           [&](const std::string& line) { return line.find(text) != std::string::npos; });
    };
    REQUIRE(holds("unit_sink"));
    REQUIRE(holds("libc.so.6 "));
    REQUIRE(holds("libstdc++.so.6 6.0."));
    REQUIRE(objects.at(0).rfind("object 0 ", 0) == 0);  // There from the start.
    recording.drain.run_pass(true);
    REQUIRE(recording.dump().of("object").size() == objects.size());
}

TEST_CASE("a thread's name comes from the system") {
    char before[16];
    prctl(PR_GET_NAME, before);
    prctl(PR_SET_NAME, "trainer");
    Recording recording;
    recording.init();
    REQUIRE(call_at(1).put(recording.rings.set.claim(own_tid(), 1), 16384));
    recording.drain.run_pass(false);
    prctl(PR_SET_NAME, before);
    REQUIRE(recording.dump().threads == Lines{"ring 0 tid " + std::to_string(own_tid()) + " trainer"});
}

TEST_CASE("losses are running totals of their own evidence") {
    Recording recording(4096);
    recording.init();
    abi::RingHeader* ring = recording.rings.set.claim(1, 1);
    std::uint64_t refused = 0;
    for (std::uint64_t i = 0; i < 150; ++i) {
        refused += call_at(i).put(ring, 4096) ? 0 : 1;
    }
    REQUIRE(refused == 150 - (512 - 3) / 5);
    recording.drain.run_pass(false);
    REQUIRE(recording.dump().of("loss") == Lines{"loss cause 0 count " + std::to_string(refused) + " thread 1"});
    ring::count_drop(ring);
    recording.rings.set.header()->lost[static_cast<unsigned>(abi::LossCause::kNoRing)].fetch_add(4);
    recording.drain.run_pass(false);
    recording.drain.run_pass(false);
    const Lines losses = recording.dump().of("loss");
    REQUIRE(losses.size() == 3);
    REQUIRE(losses.at(1) == "loss cause 0 count " + std::to_string(refused + 1) + " thread 1");
    REQUIRE(losses.at(2) == "loss cause 3 count 4 thread 0");
}

TEST_CASE("more records than a block holds take several blocks and lose nothing") {
    Recording recording(1U << 20);
    recording.init();
    abi::RingHeader* ring = recording.rings.set.claim(1, 1);
    std::uint64_t count = 0;
    // Far from small numbers, so that the encoding is not much smaller than the ring.
    while (CallBuilder(0, count << 40, (count << 40) + (1ULL << 50))
               .caller(~count)
               .correlation(count << 32)
               .put(ring, 1U << 20)) {
        ++count;
    }
    recording.device.kernels = 200'000;
    recording.drain.run_pass(false);
    const TraceDump dump = recording.dump();
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.blocks > 1);
    REQUIRE(dump.of("call").size() == count);
    REQUIRE(dump.of("device_record").size() == 200'000);
    REQUIRE(ring::fill_bytes(ring) == 0);
}

TEST_CASE("a ring that was overwritten is skipped, counted and told") {
    Recording recording;
    recording.init();
    abi::RingHeader* ring = recording.rings.set.claim(1, 1);
    REQUIRE(call_at(10).put(ring, 16384));
    REQUIRE(call_at(20).put(ring, 16384));
    reinterpret_cast<abi::EventHeader*>(ring::data(ring) + 3 + 5)->words = 0;
    recording.drain.run_pass(false);
    REQUIRE(call_at(30).put(ring, 16384));
    recording.drain.run_pass(false);
    const TraceDump dump = recording.dump();
    REQUIRE(dump.of("call").size() == 2);
    REQUIRE(dump.has("loss cause 8 count 1 thread 0"));
    REQUIRE(dump.of("notice").size() == 1);
}

TEST_CASE("blocks that cannot be written are counted, and the trace goes on afterwards with all its facts") {
    Recording recording;
    sink::TraceWriter broken;
    REQUIRE(broken.init(sink::Drain::kBlockBytes) == 0);
    int ends[2];
    REQUIRE(pipe2(ends, O_NONBLOCK) == 0);
    REQUIRE(broken.adopt(ends[1], "") == 0);
    const auto header = header_bytes(1, small_process());
    REQUIRE(broken.write_header(header.data(), header.size()) == 0);
    std::vector<std::uint8_t> bytes(1 << 20);
    const ssize_t header_count = read(ends[0], bytes.data(), bytes.size());
    const std::vector<char> fill(1 << 20);
    REQUIRE(write(ends[1], fill.data(), fill.size()) > 0);
    REQUIRE(recording.drain.init(recording.rings.set, broken, recording.device.source(), recording.config) == 0);

    abi::RingHeader* ring = recording.rings.set.claim(1, 1);
    REQUIRE(call_at(10).put(ring, 16384));
    recording.drain.run_pass(false);
    REQUIRE(ring::fill_bytes(ring) == 0);
    const std::uint64_t failed = broken.failed_bytes();
    REQUIRE(failed > 0);

    std::vector<char> drained(fill.size());
    while (read(ends[0], drained.data(), drained.size()) > 0) {
    }
    REQUIRE(call_at(20).put(ring, 16384));
    recording.drain.run_pass(true);
    const ssize_t count =
        read(ends[0], bytes.data() + header_count, bytes.size() - static_cast<std::size_t>(header_count));
    REQUIRE(count > 0);
    bytes.resize(static_cast<std::size_t>(header_count + count));
    const TraceDump dump = dump_bytes(bytes);
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("block") == Lines{"block 0.0"});
    REQUIRE(dump.of("call").size() == 1);
    REQUIRE(dump.has("span 0 on "));
    REQUIRE_FALSE(dump.of("object").empty());
    REQUIRE(dump.has("loss cause 7 count " + std::to_string(failed) + " thread 0"));
    close(ends[0]);
    broken.close();
}

TEST_CASE("the thread drains at its interval, on demand and at the end, and leaves no ring file") {
    Recording recording;
    recording.config.interval_ms = 1000;
    recording.init();
    const std::string ring_path = recording.rings.set.path();
    REQUIRE(recording.drain.start() == 0);
    abi::RingHeader* ring = recording.rings.set.claim(own_tid(), 1);
    for (std::uint64_t i = 0; i < 20; ++i) {
        REQUIRE(call_at(i).put(ring, 16384));
        REQUIRE(recording.drain.flush(10'000));
        REQUIRE(ring::fill_bytes(ring) == 0);
    }
    REQUIRE(access(ring_path.c_str(), F_OK) == 0);
    REQUIRE(call_at(20).put(ring, 16384));
    REQUIRE(recording.drain.stop(10'000));
    REQUIRE_FALSE(recording.drain.is_running());
    REQUIRE_FALSE(recording.drain.flush(10'000));
    REQUIRE(access(ring_path.c_str(), F_OK) != 0);
    const TraceDump dump = recording.dump();
    REQUIRE(dump.of("call").size() == 21);
    REQUIRE(dump.lines.back() == "end kind 0 detail 0");
}

TEST_CASE("wake() ends the thread's sleep") {
    Recording recording;
    recording.config.interval_ms = 1'000'000;
    recording.init();
    REQUIRE(recording.drain.start() == 0);
    REQUIRE(recording.drain.flush(10'000));
    abi::RingHeader* ring = recording.rings.set.claim(own_tid(), 1);
    for (int i = 0; i < 100; ++i) {
        REQUIRE(call_at(1).put(ring, 16384));
        recording.drain.wake();
        REQUIRE(wait_until([&] { return ring::fill_bytes(ring) == 0; }));
    }
    REQUIRE(recording.drain.stop(10'000));
}

TEST_CASE("the thread has every signal blocked") {
    Recording recording;
    recording.init();
    sigset_t before;
    sigset_t after;
    sigprocmask(SIG_SETMASK, nullptr, &before);
    REQUIRE(recording.drain.start() == 0);
    sigprocmask(SIG_SETMASK, nullptr, &after);
    REQUIRE(std::memcmp(&before, &after, 8) == 0);
    REQUIRE(recording.drain.flush(10'000));
    bool found = false;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream status(task.path() / "status");
        std::string line;
        bool ours = false;
        while (std::getline(status, line)) {
            ours = ours || line == "Name:\tgpuspy";
            if (ours && line.rfind("SigBlk:", 0) == 0) {
                // All but SIGKILL, SIGSTOP and the two of libc (32, 33).
                REQUIRE(line == "SigBlk:\tfffffffe7ffbfeff");
                found = true;
            }
        }
    }
    REQUIRE(found);
    REQUIRE(recording.drain.stop(10'000));
}

TEST_CASE("threads that write while the drain thread reads: every event is in the trace once") {
    Recording recording(16384);
    recording.config.interval_ms = 1;
    recording.init();
    REQUIRE(recording.drain.start() == 0);
    constexpr std::uint64_t kThreads = 4;
    constexpr std::uint64_t kCalls = 5'000;
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            abi::RingHeader* ring = recording.rings.set.claim(own_tid(), 1);
            for (std::uint64_t i = 0; i < kCalls; ++i) {
                const CallBuilder call = CallBuilder(0, i, i + 1).correlation(t * kCalls + i);
                while (!call.put(ring, 16384)) {
                    recording.drain.wake();
                    std::this_thread::yield();
                }
                if (ring::should_wake(ring, 16384, 6)) {
                    recording.drain.wake();
                }
            }
            ring::RingSet::release(ring);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    REQUIRE(recording.drain.stop(60'000));
    const Lines calls = recording.dump().of("call");
    REQUIRE(calls.size() == kThreads * kCalls);
    std::vector<bool> seen(kThreads * kCalls);
    for (const std::string& line : calls) {
        const std::uint64_t id = std::stoull(line.substr(line.find("corr ") + 5));
        REQUIRE_FALSE(seen.at(id));
        seen.at(id) = true;
    }
}

TEST_CASE("a stop that takes too long returns in time and leaves the rings for a salvager") {
    Recording recording;
    recording.init();
    static std::atomic<bool> hold{true};
    hold = true;
    recording.config.at_step = [](void*, sink::PassStep step) noexcept {
        while (step == sink::PassStep::kEncoded && hold) {
            std::this_thread::yield();
        }
    };
    recording.drain.destroy();
    recording.init();
    REQUIRE(recording.drain.start() == 0);
    const std::uint64_t before = ring::read_clock_ns(CLOCK_MONOTONIC);
    REQUIRE_FALSE(recording.drain.stop(50));
    const std::uint64_t took_ns = ring::read_clock_ns(CLOCK_MONOTONIC) - before;
    REQUIRE(took_ns >= 50'000'000);
    REQUIRE(took_ns < 10'000'000'000);
    REQUIRE(access(recording.rings.set.path(), F_OK) == 0);
    hold = false;
    REQUIRE(wait_until([&] { return !recording.drain.is_running(); }));
}

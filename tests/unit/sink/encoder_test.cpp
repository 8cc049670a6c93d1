#include "collector/sink/encoder.hpp"

#include <functional>

#include "collector/sink/lasting_facts.hpp"
#include "tests/unit/sink/fixtures.hpp"
#include "tests/unit/sink/trace_dump.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using Bytes = std::vector<std::uint8_t>;
using Lines = std::vector<std::string>;

namespace {

Bytes payload(const sink::Block& block) {
    return {block.payload, block.payload + block.raw_bytes};
}

/// Blocks as the reader sees them.
class Trace {
public:
    Trace() : writer_(folder_.file("trace.bin")) {}
    void add(const sink::Block& block) { REQUIRE(writer_.writer.append_block(block, 1) == 0); }
    TraceDump dump() { return dump_file(folder_.file("trace.bin")); }

private:
    TempFolder folder_;
    TestWriter writer_;
};

}  // namespace

TEST_CASE("numbers are LEB128, signed ones zigzag") {
    std::uint8_t bytes[64];
    sink::WireBuffer out(bytes, sizeof bytes);
    out.varint(0);
    out.varint(127);
    out.varint(128);
    out.varint(~std::uint64_t{0});
    out.svarint(-1);
    out.svarint(1);
    out.svarint(-64);
    const Bytes expected = {0x00, 0x7f, 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff,
                            0xff, 0xff, 0xff, 0xff, 0x01, 0x01, 0x02, 0x7f};
    REQUIRE(Bytes(bytes, bytes + out.size()) == expected);
    sink::WireReader in(bytes, out.size());
    REQUIRE(in.varint() == 0);
    REQUIRE(in.varint() == 127);
    REQUIRE(in.varint() == 128);
    REQUIRE(in.varint() == ~std::uint64_t{0});
}

TEST_CASE("a call: known bytes") {
    TestEncoder encoder;
    REQUIRE(encoder->thread(0, 7, "main"));
    REQUIRE(encoder->call(CallBuilder(1, 1000, 1300).caller(0x10).stream(0).copy(4096, 1).get()));
    const Bytes expected = {
        6,  7,   0,    7,   4,   'm',  'a',  'i',  'n',  // kThread
        4,  23,  1,    1,   3,   1,    7,    'r',  'u',  'n', 't', 'i',  'm',  'e',
        10, 'c', 'u',  'd', 'a', 'M',  'e',  'm',  'c',  'p', 'y', 2,    1,    0x10,  // kValue 1
        16, 12,  0x46, 1,   0,   0xd0, 0x0f, 0xac, 0x02, 1,   0,   0x80, 0x20, 1,     // kCall
    };
    REQUIRE(payload(encoder->finish_block()) == expected);
}

TEST_CASE("every field of every record comes back") {
    Trace trace;
    TestEncoder encoder;
    REQUIRE(encoder->thread(3, 77, "worker"));
    REQUIRE(encoder->call(CallBuilder(0, 5000, 5100)
                              .depth(2)
                              .failed(-13)
                              .caller(0x7f0000001234)
                              .stream(0xabc0)
                              .correlation(70'000)
                              .launch_id(std::uint64_t{3} << 40 | 1)
                              .kernel(0xf00d, 128, 256, 1024)
                              .get()));
    REQUIRE(encoder->call(CallBuilder(2, 4900, 5200).stream(2).correlation(69'999).graph(0xe0).get()));
    REQUIRE(encoder->call(CallBuilder(1, 5300, 5300).stream(1).copy(std::uint64_t{1} << 40, 2).get()));
    REQUIRE(encoder->anchor({6000, 10, 20, 30, 4}));
    REQUIRE(encoder->object({1, 0x1000, 0x2000, "/lib/libcudnn.so.9", "9.1.0"}));
    sink::DeviceInfo device;
    device.ordinal = 1;
    device.name = "GPU";
    device.cc_major = 9;
    device.sm_count = 132;
    device.memory_bytes = 80'000'000'000;
    device.pci = "0000:01:00.0";
    REQUIRE(encoder->device(device));
    REQUIRE(encoder->info("driver_version", "13.0"));
    sink::KernelRecord kernel;
    kernel.context = 1;
    kernel.stream = 7;
    kernel.correlation = 70'000;
    kernel.start_ns = 1'000'000;
    kernel.end_ns = 1'002'500;
    kernel.name = "_Z3addPf";
    REQUIRE(encoder->kernel(kernel));
    kernel.from_graph = true;
    kernel.graph_exec_id = 5;
    kernel.graph_node = 9;
    kernel.start_ns = 999'000;
    kernel.end_ns = 999'001;
    REQUIRE(encoder->kernel(kernel));
    sink::MemcpyRecord copy;
    copy.correlation = 3;
    copy.start_ns = 2'000'000;
    copy.end_ns = 2'000'100;
    copy.bytes = 512;
    copy.kind = 1;
    copy.asynchronous = true;
    REQUIRE(encoder->memcpy(copy));
    sink::MemsetRecord set;
    set.start_ns = 50;
    set.end_ns = 40;  // No time can be made of this.
    set.bytes = 64;
    REQUIRE(encoder->memset(set));
    copy.start_ns = 2'000'200;
    copy.end_ns = 2'000'300;
    REQUIRE(encoder->memcpy(copy));
    REQUIRE(encoder->span(1, abi::SpanKind::kDevice, true, "why"));
    REQUIRE(encoder->loss(abi::LossCause::kRingFull, 12, 3));
    REQUIRE(encoder->loss(abi::LossCause::kNoRing, 1, sink::Encoder::kNoThread));
    REQUIRE(encoder->cpu({1, 2, 3, 4, 5}));
    REQUIRE(encoder->end(9, abi::EndKind::kWaitStatus, 139, 0));
    REQUIRE(encoder->cost(1000, 60'000));
    REQUIRE(encoder->notice(9, "read me"));
    trace.add(encoder->finish_block());
    const TraceDump dump = trace.dump();
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.lines ==
            Lines{
                "process 42 run 0 /bin/program argv  env ",
                "block 0.0",
                "call ring 3 tid 77 cuLaunchKernel 5000-5100 depth 2 flags 3f status -13 caller 7f0000001234 stream "
                "abc0 corr 70000 "
                "launch 3298534883329 function f00d copy 0/0 graph 0",
                "call ring 3 tid 77 cuGraphLaunch 4900-5200 depth 0 flags 8c status 0 caller 0 stream 2 corr 69999 "
                "launch 0 "
                "function 0 copy 0/0 graph e0",
                "call ring 3 tid 77 cudaMemcpy 5300-5300 depth 0 flags 44 status 0 caller 0 stream 1 corr 0 launch 0 "
                "function 0 copy 1099511627776/2 graph 0",
                "anchor 6000 10 20 30 4",
                "object 1 1000-2000 /lib/libcudnn.so.9 9.1.0",
                "device 1 GPU cc 9.0 sm 132 80000000000 B pci 0000:01:00.0",
                "info driver_version=13.0",
                "device_record 0 flags 0 0/1/7 corr 70000 1000000+2500 graph 0.0 name _Z3addPf 0 B kind 0",
                "device_record 0 flags 2 0/1/7 corr 70000 999000+1 graph 5.9 name _Z3addPf 0 B kind 0",
                "device_record 1 flags 4 0/0/0 corr 3 2000000+100 graph 0.0 name  512 B kind 1",
                "device_record 2 flags 1 0/0/0 corr 0 2000000+0 graph 0.0 name  64 B kind 255",
                "device_record 1 flags 4 0/0/0 corr 3 2000200+100 graph 0.0 name  512 B kind 1",
                "span 1 on why",
                "loss cause 0 count 12 thread 4",
                "loss cause 3 count 1 thread 0",
                "cpu callback 5",
                "end kind 1 detail 139",
                "cost calls 1000 ps 60000",
                "notice read me",
            });
}

TEST_CASE("names and graphs from a ring come back") {
    Trace trace;
    TestEncoder encoder;
    std::uint64_t words[64] = {};
    auto* name = reinterpret_cast<abi::NameEvent*>(words);
    *name = {{5, abi::EventType::kName, 0, 0, 0}, 8, 0xf00d, 6, 0};
    std::memcpy(name + 1, "kernel", 6);
    REQUIRE(encoder->event(&name->header));
    abi::GraphExecEvent graph{{7, abi::EventType::kGraphExec, 0, 0, 0}, 9, 0xe0, 5, 3, 1, 2, 4, abi::kGraphUpdated, 0};
    REQUIRE(encoder->event(&graph.header));
    trace.add(encoder->finish_block());
    REQUIRE(trace.dump().lines.at(2) == "name 8 f00d kernel");
    REQUIRE(trace.dump().lines.at(3) == "graph 9 e0 id 5 nodes 3 1 2 4 flags 2");
}

TEST_CASE("graph nodes: known bytes") {
    TestEncoder encoder;
    std::uint64_t words[4 + 2 * 3] = {};
    auto* event = reinterpret_cast<abi::GraphNodesEvent*>(words);
    *event = {{10, abi::EventType::kGraphNodes, 0, 0, 0}, 9, 0xe0, 2, 0};
    auto* nodes = reinterpret_cast<abi::GraphNode*>(event + 1);
    nodes[0] = {0, 0, 0xf0, 5};
    nodes[1] = {1, 1, 0, 0};
    REQUIRE(encoder->event(&event->header));
    const Bytes expected = {19, 13, 9, 0xe0, 0x01, 2, 0, 0, 0xf0, 0x01, 5, 1, 1, 0, 0};
    REQUIRE(payload(encoder->finish_block()) == expected);
}

TEST_CASE("ranges: known bytes") {
    using abi::RangeKind;
    TestEncoder encoder;
    REQUIRE(encoder->range(RangeBuilder(RangeKind::kMark, 1, 0, "", "of no thread").get()));
    REQUIRE(encoder->payload_bytes() == 0);
    REQUIRE(encoder->thread(0, 7, ""));
    REQUIRE(encoder->range(RangeBuilder(RangeKind::kPush, 1000, 0, "d", "step", 2).get()));
    REQUIRE(encoder->call(CallBuilder(0, 2000, 2001).get()));
    REQUIRE(encoder->event(&RangeBuilder(RangeKind::kPop, 1001, 0, "d").get()->header));
    Bytes bytes = payload(encoder->finish_block());
    const Bytes first = {6,  3, 0,   7, 0,                          // kThread
                         3,  1, 'd', 3, 4,    's',  't', 'e', 'p',  // kText 1 and 2
                         64, 7, 0,   2, 0xd0, 0x0f, 0,   1,   2};   // kRange
    const Bytes last = {64, 6, 1, 0, 2, 0, 1, 0};
    REQUIRE(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(first.size())) == first);
    REQUIRE(Bytes(bytes.end() - static_cast<std::ptrdiff_t>(last.size()), bytes.end()) == last);
}

TEST_CASE("ranges whose texts fill the dictionary begin segments and lose nothing") {
    Trace trace;
    TestEncoder encoder(abi::kMaxBlockRawBytes);
    constexpr std::uint64_t kCount = 40'000;
    std::uint32_t segments = 1;
    for (std::uint64_t i = 0; i < kCount; ++i) {
        const RangeBuilder mark(abi::RangeKind::kMark, i, 0, "domain", "text " + std::to_string(i));
        const auto put = [&] {
            return (encoder->is_current(0, 1) || encoder->thread(0, 1, "")) && encoder->range(mark.get());
        };
        if (!put()) {
            REQUIRE(encoder->wants_segment());
            trace.add(encoder->finish_block());
            encoder->begin_segment(encoder->next_segment());
            ++segments;
            REQUIRE(put());
        }
    }
    trace.add(encoder->finish_block());
    const Lines ranges = trace.dump().of("range");
    REQUIRE(segments == 3);
    REQUIRE(ranges.size() == kCount);
    REQUIRE(ranges.back() == "range ring 0 tid 1 kind 4 39999 depth 0 id 0 domain/text 39999");
}

TEST_CASE("a block that is full refuses a record and keeps what it has") {
    Trace trace;
    TestEncoder encoder;
    REQUIRE(encoder->thread(0, 1, ""));
    std::uint64_t count = 0;
    while (encoder->call(CallBuilder(0, count * 10, count * 10 + 5).caller(0x1000 + count % 100).get())) {
        ++count;
    }
    REQUIRE_FALSE(encoder->wants_segment());
    REQUIRE(count > 10'000);
    trace.add(encoder->finish_block());
    REQUIRE(encoder->thread(0, 1, ""));
    REQUIRE(encoder->call(CallBuilder(0, count * 10, count * 10 + 5).caller(0x1000 + count % 100).get()));
    trace.add(encoder->finish_block());
    const TraceDump dump = trace.dump();
    REQUIRE_FALSE(dump.partial);
    const Lines calls = dump.of("call");
    REQUIRE(calls.size() == count + 1);
    REQUIRE(calls.back().find("cuLaunchKernel " + std::to_string(count * 10) + "-") != std::string::npos);
    REQUIRE(dump.of("block") == Lines{"block 0.0", "block 0.1"});
}

TEST_CASE("a full dictionary asks for a segment, which starts afresh") {
    Trace trace;
    TestEncoder encoder(abi::kMaxBlockRawBytes);
    const auto run_until_refused = [&](auto&& put) {
        std::uint64_t count = 0;
        while (put(count)) {
            ++count;
        }
        return count;
    };
    std::uint64_t most = 0;
    std::function<bool(std::uint64_t)> put;
    SECTION("values") {
        most = sink::ValueDictionary::kMaxEntries - 3;  // A call may need four.
        put = [&](std::uint64_t i) {
            return (i != 0 || encoder->thread(0, 1, "")) && encoder->call(CallBuilder(0, i, i).caller(i + 1).get());
        };
    }
    SECTION("kernel names") {
        most = sink::TextDictionary::kMaxEntries;
        put = [&](std::uint64_t i) {
            const std::string name = "kernel_" + std::to_string(i);
            sink::KernelRecord kernel;
            kernel.name = name.c_str();
            return encoder->kernel(kernel);
        };
    }
    SECTION("threads") {
        most = 4096;
        put = [&](std::uint64_t i) { return encoder->thread(static_cast<std::uint32_t>(i), 1, ""); };
    }
    REQUIRE(run_until_refused(put) == most);
    REQUIRE(encoder->wants_segment());
    trace.add(encoder->finish_block());
    encoder->begin_segment(encoder->next_segment());
    REQUIRE_FALSE(encoder->wants_segment());
    REQUIRE(put(0));
    trace.add(encoder->finish_block());
    const TraceDump dump = trace.dump();
    REQUIRE_FALSE(dump.partial);
    REQUIRE(dump.of("block") == Lines{"block 0.0", "block 1.0"});
}

TEST_CASE("a thread that comes back in a segment goes on with its own previous values") {
    Trace trace;
    TestEncoder encoder;
    REQUIRE(encoder->thread(0, 1, ""));
    REQUIRE(encoder->call(CallBuilder(0, 100, 101).correlation(10).get()));
    REQUIRE(encoder->thread(0, 2, ""));  // The ring was given to another thread.
    REQUIRE(encoder->call(CallBuilder(0, 50, 51).correlation(1).get()));
    REQUIRE(encoder->thread(0, 1, ""));
    REQUIRE(encoder->call(CallBuilder(0, 200, 201).correlation(11).get()));
    trace.add(encoder->finish_block());
    const Lines calls = trace.dump().of("call");
    REQUIRE(calls.size() == 3);
    REQUIRE(calls[1].find("tid 2 cuLaunchKernel 50-51") != std::string::npos);
    REQUIRE(calls[2].find("tid 1 cuLaunchKernel 200-201") != std::string::npos);
    REQUIRE(calls[2].find("corr 11") != std::string::npos);
}

TEST_CASE("a call of an API beyond the table, or of no thread, is left out") {
    TestEncoder encoder;
    REQUIRE(encoder->call(CallBuilder(0, 1, 2).get()));
    REQUIRE(encoder->payload_bytes() == 0);
    REQUIRE(encoder->thread(0, 1, ""));
    const std::size_t before = encoder->payload_bytes();
    REQUIRE(encoder->call(CallBuilder(99, 1, 2).get()));
    REQUIRE(encoder->payload_bytes() == before);
}

TEST_CASE("texts beyond the limit are cut") {
    TestEncoder encoder;
    const std::string text(sink::Encoder::kMaxStringBytes + 1000, 'x');
    REQUIRE(encoder->notice(1, text.c_str()));
    // Tag, length (3 bytes), ticks, length (3 bytes), text.
    REQUIRE(encoder->payload_bytes() == sink::Encoder::kMaxStringBytes + 8);
}

TEST_CASE("an encoder's buffer must hold the largest event") {
    Bytes buffer(sink::Encoder::kMinBufferBytes);
    sink::Encoder encoder;
    REQUIRE(encoder.init(buffer.data(), buffer.size() - 1, kApis, kApiCount) == EINVAL);
    REQUIRE(encoder.init(buffer.data(), buffer.size(), kApis, kApiCount) == 0);
    constexpr std::uint32_t kNodes = (ring::kMaxEventWords - 4) / 3;
    std::vector<std::uint64_t> words(ring::kMaxEventWords);
    auto* event = reinterpret_cast<abi::GraphNodesEvent*>(words.data());
    *event = {{ring::kMaxEventWords, abi::EventType::kGraphNodes, 0, 0, 0}, ~0ULL, ~0ULL, kNodes, 0};
    auto* nodes = reinterpret_cast<abi::GraphNode*>(event + 1);
    for (std::uint32_t i = 0; i < kNodes; ++i) {
        nodes[i] = {~0U, ~0U, ~0ULL, ~0ULL};
    }
    REQUIRE(ring::event_is_sound(&event->header));
    REQUIRE(encoder.event(&event->header));
    REQUIRE(encoder.payload_bytes() > kNodes * 30U);
    encoder.destroy();
}

TEST_CASE("an encoder that begins again counts from nothing and keeps no facts") {
    // As in a forked child, whose parent recorded.
    sink::LastingFacts facts;
    REQUIRE(facts.init() == 0);
    Bytes buffer(sink::Encoder::kMinBufferBytes);
    sink::Encoder encoder;
    REQUIRE(encoder.init(buffer.data(), buffer.size(), kApis, kApiCount) == 0);
    encoder.keep_facts_in(&facts);
    REQUIRE(encoder.thread(0, 7, "main"));
    REQUIRE(encoder.call(CallBuilder(0, 10, 11).correlation(5).get()));
    REQUIRE(encoder.counts().calls == 1);
    REQUIRE(encoder.counts().correlation == 5);
    encoder.destroy();
    REQUIRE(encoder.init(buffer.data(), buffer.size(), kApis, kApiCount) == 0);
    REQUIRE(encoder.counts().calls == 0);
    REQUIRE(encoder.counts().correlation == 0);
    REQUIRE(encoder.info("key", "value"));
    std::size_t kept = 0;
    facts.visit([&](abi::Tag, const std::uint8_t*, std::size_t) { ++kept; });
    REQUIRE(kept == 0);
    encoder.destroy();
    facts.destroy();
}

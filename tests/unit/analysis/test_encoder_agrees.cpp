// What collector/sink writes is what the analysis reads: every kind of record, field by field.
#include <catch2/catch.hpp>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/reader/byte_source.hpp"
#include "analysis/reader/trace_reader.hpp"
#include "tests/unit/sink/fixtures.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

std::string line(std::initializer_list<std::uint64_t> numbers, std::initializer_list<std::string_view> texts = {}) {
    std::string result;
    for (const std::uint64_t number : numbers) {
        result += std::to_string(number) + " ";
    }
    for (const std::string_view text : texts) {
        result += std::string(text) + " ";
    }
    return result;
}

/// Every record as a line.
class Lines : public analysis::Visitor {
public:
    explicit Lines(analysis::Symbols& symbols) : symbols_(symbols) {}
    std::vector<std::string> lines;
    analysis::ProcessRecord process;

    void on_process(const analysis::ProcessRecord& record) override { process = record; }
    void on_anchor(const analysis::AnchorRecord& r) override {
        add("anchor ", line({r.ticks, r.monotonic_ns, r.realtime_ns, r.device_clock_ns, r.uncertainty_ns}));
    }
    void on_object(const analysis::ObjectRecord& r) override {
        add("object ", line({r.ticks, r.begin, r.end}, {r.path, r.version}));
    }
    void on_device(const analysis::DeviceRecord& r) override {
        add("device ", line({r.ordinal, r.cc_major, r.cc_minor, r.sm_count, r.sm_clock_khz, r.memory_clock_khz,
                             r.bus_width_bits, r.memory_bytes, r.uuid.size()},
                            {r.name, r.pci}));
    }
    void on_info(std::string_view key, std::string_view value) override { add("info ", line({}, {key, value})); }
    void on_call(const analysis::CallRecord& r) override {
        const analysis::ThreadInfo& thread = symbols_.threads()[r.thread];
        add("call ", line({thread.ring, thread.tid, r.flags, r.depth, r.begin_ticks, r.end_ticks,
                           static_cast<std::uint64_t>(r.status), r.caller, r.stream, r.correlation, r.launch_id,
                           r.function, r.copy_bytes, r.copy_kind, r.graph_exec},
                          {symbols_.api(r.api).name, symbols_.api(r.api).library, symbols_.api(r.api).fields}));
        for (const std::int64_t argument : r.arguments) {
            add("argument ", std::to_string(argument));
        }
    }
    void on_name(const analysis::NameRecord& r) override {
        add("name ", line({r.ticks, r.handle}, {symbols_.text(r.name)}));
    }
    void on_graph_exec(const analysis::GraphExecRecord& r) override {
        add("graph ", line({r.ticks, r.exec, r.cupti_exec_id, r.kernel_nodes, r.memcpy_nodes, r.memset_nodes,
                            r.other_nodes, r.flags}));
    }
    void on_graph_nodes(std::uint64_t exec, std::uint64_t ticks, std::span<const abi::GraphNode> nodes) override {
        add("nodes ", line({exec, ticks, nodes.size()}));
        for (const abi::GraphNode& node : nodes) {
            add("node ", line({node.index, node.type, node.function, node.launch_id}));
        }
    }
    void on_activity(const analysis::ActivityRecord& r) override {
        const std::string name = r.kind == analysis::ActivityKind::kKernel ? symbols_.text(r.name) : "";
        add("activity ",
            line({static_cast<std::uint64_t>(r.kind), r.flags, r.device, r.context, r.stream, r.correlation, r.start_ns,
                  r.duration_ns, r.graph_exec_id, r.graph_node, r.bytes, r.copy_kind},
                 {name}));
    }
    void on_range(const analysis::RangeRecord& r) override {
        add("range ",
            line({symbols_.threads()[r.thread].tid, static_cast<std::uint64_t>(r.kind), r.depth, r.ticks, r.id},
                 {symbols_.text(r.domain), symbols_.text(r.name)}));
    }
    void on_span(const analysis::SpanRecord& r) override { add("span ", line({r.ticks, r.what, r.on}, {r.reason})); }
    void on_loss(const analysis::LossRecord& r) override { add("loss ", line({r.cause, r.count, r.thread})); }
    void on_cpu(const analysis::CpuRecord& r) override {
        add("cpu ", line({r.ticks, r.user_ns, r.system_ns, r.own_ns, r.callback_ns}));
    }
    void on_end(const analysis::EndRecord& r) override {
        add("end ", line({r.ticks, r.kind, static_cast<std::uint64_t>(r.detail), r.pid}));
    }
    void on_cost(const analysis::CostRecord& r) override { add("cost ", line({r.calls, r.call_ps})); }
    void on_notice(std::uint64_t ticks, std::string_view text) override { add("notice ", line({ticks}, {text})); }

private:
    void add(const std::string& kind, const std::string& fields) { lines.push_back(kind + fields); }
    analysis::Symbols& symbols_;
};

void write_everything(sink::Encoder& encoder) {
    REQUIRE(encoder.anchor({100, 200, 300, 400, 5}));
    REQUIRE(encoder.object({110, 0x1000, 0x2000, "/lib/libcudart.so.13", "13"}));
    sink::DeviceInfo device;
    device.ordinal = 1;
    device.name = "H200";
    const std::uint8_t uuid[16] = {1, 2, 3};
    device.uuid = uuid;
    device.cc_major = 9;
    device.sm_count = 132;
    device.sm_clock_khz = 1'980'000;
    device.memory_clock_khz = 2'619'000;
    device.bus_width_bits = 6016;
    device.memory_bytes = 1ULL << 37;
    device.pci = "0000:18:00.0";
    REQUIRE(encoder.device(device));
    REQUIRE(encoder.info("driver_version", "13.0"));
    REQUIRE(encoder.thread(3, 1234, "main"));
    REQUIRE(encoder.call(
        CallBuilder(0, 1'000, 1'050).caller(0x1234).stream(2).correlation(7).kernel(0xf1, 3, 128, 64).get()));
    REQUIRE(encoder.call(CallBuilder(1, 900, 2'000).depth(1).failed(-3).copy(4096, 2).get()));
    REQUIRE(encoder.call(CallBuilder(3, 2'100, 2'101).arguments({4096, -1}).get()));
    REQUIRE(encoder.call(CallBuilder(2, 3'000, 3'010).correlation(5).launch_id((3ULL << 40) | 1).graph(0xe1).get()));
    REQUIRE(encoder.range(RangeBuilder(abi::RangeKind::kPush, 950, 2, "NCCL", "all reduce", 1).get()));
    REQUIRE(encoder.range(RangeBuilder(abi::RangeKind::kEnd, 940, 1ULL << 40).get()));
    REQUIRE(encoder.span(90, abi::SpanKind::kDevice, true, "because"));
    REQUIRE(encoder.loss(abi::LossCause::kCuptiDropped, 9, sink::Encoder::kNoThread));
    REQUIRE(encoder.loss(abi::LossCause::kRingFull, 2, 3));
    REQUIRE(encoder.cpu({4'000, 1, 2, 3, 4}));
    REQUIRE(encoder.cost(3, 17'000));
    REQUIRE(encoder.notice(4'001, "read me"));
    REQUIRE(encoder.end(4'002, abi::EndKind::kWaitStatus, 9, 77));

    sink::KernelRecord kernel;
    kernel.device = 1;
    kernel.context = 2;
    kernel.stream = 7;
    kernel.correlation = 7;
    kernel.start_ns = 10'000;
    kernel.end_ns = 10'400;
    kernel.name = "_Z4scalPfi";
    REQUIRE(encoder.kernel(kernel));
    kernel.untimed = true;
    kernel.correlation = 6;
    REQUIRE(encoder.kernel(kernel));
    kernel.untimed = false;
    kernel.from_graph = true;
    kernel.graph_exec_id = 9;
    kernel.graph_node = 4;
    kernel.start_ns = 9'000;
    kernel.end_ns = 9'001;
    kernel.name = nullptr;
    REQUIRE(encoder.kernel(kernel));
    sink::MemcpyRecord copy;
    copy.correlation = 8;
    copy.start_ns = 11'000;
    copy.end_ns = 11'500;
    copy.bytes = 4096;
    copy.kind = 2;
    copy.asynchronous = true;
    REQUIRE(encoder.memcpy(copy));
    sink::MemsetRecord set;
    set.correlation = 9;
    set.start_ns = 12'000;
    set.end_ns = 12'100;
    set.bytes = 64;
    REQUIRE(encoder.memset(set));
}

const std::vector<std::string> kExpected = {
    "anchor 100 200 300 400 5 ",
    "object 110 4096 8192 /lib/libcudart.so.13 13 ",
    "device 1 9 0 132 1980000 2619000 6016 137438953472 16 H200 0000:18:00.0 ",
    "info driver_version 13.0 ",
    "call 3 1234 46 0 1000 1050 0 4660 2 7 0 241 0 0 0 cuLaunchKernel driver  ",
    "call 3 1234 65 1 900 2000 18446744073709551613 0 0 0 0 0 4096 2 0 cudaMemcpy runtime  ",
    "call 3 1234 4096 0 2100 2101 0 0 0 0 0 0 0 0 0 cudaMalloc runtime devPtr:0* size:1w ",
    "argument 4096",
    "argument -1",
    "call 3 1234 152 0 3000 3010 0 0 0 5 3298534883329 0 0 0 225 cuGraphLaunch driver  ",
    "range 1234 0 1 950 2 NCCL all reduce ",
    "range 1234 3 0 940 1099511627776   ",
    "span 90 1 1 because ",
    "loss 1 9 0 ",
    "loss 0 2 4 ",
    "cpu 4000 1 2 3 4 ",
    "cost 3 17000 ",
    "notice 4001 read me ",
    "end 4002 1 9 77 ",
    "activity 0 0 1 2 7 7 10000 400 0 0 0 0 _Z4scalPfi ",
    "activity 0 1 1 2 7 6 10000 0 0 0 0 0 _Z4scalPfi ",
    "activity 0 2 1 2 7 6 9000 1 9 4 0 0  ",
    "activity 1 4 0 0 0 8 11000 500 0 0 4096 2  ",
    "activity 2 0 0 0 0 9 12000 100 0 0 64 255  ",
};

}  // namespace

TEST_CASE("the encoder's records are read field by field, in two blocks and two segments") {
    const TempFolder folder;
    const std::string path = folder.file("trace.bin");
    {
        TestWriter trace(path);
        TestEncoder encoder;
        for (int segment = 0; segment < 2; ++segment) {
            for (int block = 0; block < 2; ++block) {
                write_everything(encoder.encoder);
                REQUIRE(trace.writer.append_block(encoder->finish_block(), 5'000) == 0);
            }
            encoder->begin_segment(static_cast<std::uint32_t>(segment + 1));
        }
    }
    const auto source = analysis::open_file(path);
    REQUIRE(source.ok());
    analysis::Symbols symbols;
    Lines seen(symbols);
    const auto result = analysis::read_trace(*source.value(), symbols, seen);
    REQUIRE(result.ok());
    INFO(result.value().describe());
    CHECK_FALSE(result.value().partial());
    CHECK(result.value().unknown_records == 0);
    CHECK(result.value().blocks == 4);
    CHECK(seen.process.pid == 42);
    CHECK(seen.process.exe == "/bin/program");
    REQUIRE(seen.lines.size() == 4 * kExpected.size());
    for (std::size_t i = 0; i < seen.lines.size(); ++i) {
        CHECK(seen.lines[i] == kExpected[i % kExpected.size()]);
    }
}

TEST_CASE("graph events go from the ring's form to the reader") {
    struct {
        abi::GraphNodesEvent event;
        abi::GraphNode nodes[2];
    } nodes = {{{10, abi::EventType::kGraphNodes, 0, 0, 0}, 500, 0xe1, 2, 0}, {{0, 0, 0xf1, 11}, {1, 1, 0, 0}}};
    const abi::GraphExecEvent exec = {
        {7, abi::EventType::kGraphExec, 0, 0, 0}, 500, 0xe1, 9, 1, 2, 3, 4, abi::kGraphUpdated, 0};
    const TempFolder folder;
    const std::string path = folder.file("trace.bin");
    {
        TestWriter trace(path);
        TestEncoder encoder;
        REQUIRE(encoder->event(&exec.header));
        REQUIRE(encoder->event(&nodes.event.header));
        REQUIRE(trace.writer.append_block(encoder->finish_block(), 5'000) == 0);
    }
    const auto source = analysis::open_file(path);
    REQUIRE(source.ok());
    analysis::Symbols symbols;
    Lines seen(symbols);
    REQUIRE(analysis::read_trace(*source.value(), symbols, seen).ok());
    CHECK(seen.lines == std::vector<std::string>{"graph 500 225 9 1 2 3 4 2 ", "nodes 225 500 2 ", "node 0 0 241 11 ",
                                                 "node 1 1 0 0 "});
}

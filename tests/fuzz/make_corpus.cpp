// make_corpus FOLDER: seeds for the fuzzers, in a folder for each: of the format, one for each part of it; of changes to what a dead
// process left (fuzz_salvage.cpp).
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "collector/abi/ring_layout.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

std::filesystem::path folder;

void write_to(const char* target, const char* name, const std::string& bytes) {
    std::filesystem::create_directories(folder / target);
    std::ofstream file(folder / target / name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A trace is a seed for whatever reads traces.
void write(const char* name, const std::string& bytes) {
    write_to("report", name, bytes);
    write_to("views", name, bytes);
}

/// Writes `bytes` over the ring file at `offset`.
std::string change(std::uint32_t offset, const std::string& bytes) {
    std::string one(sizeof offset, 0);
    std::memcpy(one.data(), &offset, sizeof offset);
    return one + static_cast<char>(bytes.size()) + bytes;
}

void write_changes() {
    write_to("salvage", "none", "");
    write_to("salvage", "ring_count", change(offsetof(abi::MapHeader, ring_count), {"\xff\xff\0\0", 4}));
    write_to("salvage", "stride", change(offsetof(abi::MapHeader, ring_stride), {"\1\0\0\0", 4}));
    write_to("salvage", "commit", change(offsetof(abi::MapHeader, commit_seq), {"\1\0\0\0", 4}));
    write_to("salvage", "lost", change(offsetof(abi::MapHeader, lost), std::string(16, '\x7f')));
    // The first words of the first two rings' data, whose place is that of a set with two APIs.
    write_to("salvage", "event_words", change(4096 + sizeof(abi::RingHeader), {"\xff\xff\1\0", 4}));
    write_to("salvage", "cut_trace", std::string("\x40\0\0\0\0", 5));
    write_to("salvage", "other_trace", std::string("\xff\xff\0\0\0", 5) + change(8, "gpuspy"));
}

void write(const char* name, TraceBuilder& trace) {
    write(name, trace.bytes());
}

/// A begun trace whose payload the fuzzer can change without knowing zstd.
TraceBuilder plain() {
    TraceBuilder trace = begun_trace();
    trace.end_block();
    trace.compressed(false);
    trace.thread(0, 100);
    return trace;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: make_corpus FOLDER\n", stderr);
        return 2;
    }
    folder = argv[1];
    write_changes();

    TraceBuilder varied = varied_trace();
    write("varied", varied);
    write("header", varied.header_bytes());
    write("cut", varied.bytes().substr(0, varied.bytes().size() / 2));

    TraceBuilder graphs = plain();
    graphs.call({.api = runtime_launch(),
                 .begin = kStart + 10,
                 .end = kStart + 15,
                 .caller = 0x1500,
                 .launch_id = 1,
                 .flags = abi::kCallCaptured});
    graphs.graph_exec(kStart + 20, 0xe1, 9, 2, abi::kGraphUpdated);
    graphs.graph_nodes(kStart + 20, 0xe1, {{0, 0, 0xf1, 1}, {1, 0, 0xf1, 0}});
    graphs.call({.api = graph_launch(), .begin = kStart + 30, .end = kStart + 35, .correlation = 3, .exec = 0xe1});
    graphs.activity({.name = "k",
                     .start = on_device(kStart + 50),
                     .duration = 10,
                     .correlation = 3,
                     .graph_exec_id = 9,
                     .graph_node = 1});
    write("graphs", graphs);

    TraceBuilder kept = plain();
    kept.kept({.ticks = kStart + 10,
               .calls = 2,
               .device_records = 1,
               .ranges = 1,
               .blocks = 1,
               .bytes = 99,
               .correlation = 0xffffffff,
               .limit_ns = 1'000'000'000,
               .limit_bytes = 4 << 20});
    kept.cost(3, 17'000);
    kept.cpu(kStart + 10, 1, 2, 3, 4);
    kept.graph_exec(kStart + 5, 0xe1, 9, 2);
    kept.graph_nodes(kStart + 5, 0xe1, {{0, 0, 0xf1, 1}, {1, 0, 0xf1, 2}});
    kept.origin(1, cudnn("cudnnFind"), 0x1500, kStart + 4);
    kept.origin(2, {}, 0x5500, kStart + 4);
    kept.activity({.name = "k", .start = on_device(kStart + 12), .duration = 10, .correlation = 0xfffffffe});
    kept.call({.api = graph_launch(), .begin = kStart + 30, .end = kStart + 35, .correlation = 3, .exec = 0xe1});
    kept.activity({.name = "k",
                   .start = on_device(kStart + 50),
                   .duration = 10,
                   .correlation = 3,
                   .graph_exec_id = 9,
                   .graph_node = 1});
    write("kept", kept);

    TraceBuilder waits = plain();
    waits.call({.api = stream_sync(), .begin = kStart + 10, .end = kStart + 500, .depth = 1, .stream = 2});
    waits.call({.api = cudnn("cudnnFind"), .begin = kStart + 5, .end = kStart + 600, .caller = 0x1500});
    waits.activity({.tag = abi::Tag::kMemset, .start = on_device(kStart + 20), .duration = 100, .bytes = 9});
    waits.cpu(kStart, 1, 2, 3, 4);
    waits.cost(2, 17'000);
    write("waits", waits);

    TraceBuilder ranges = plain();
    ranges.range({.kind = abi::RangeKind::kPush, .ticks = kStart + 1, .name = "outer"});
    ranges.range({.kind = abi::RangeKind::kPush, .ticks = kStart + 2, .domain = "NCCL", .name = "sum"});
    ranges.call({.api = stream_sync(), .begin = kStart + 3, .end = kStart + 4, .stream = 2});
    ranges.range({.kind = abi::RangeKind::kStart, .depth = 1, .ticks = kStart + 5, .id = 7, .name = "step"});
    ranges.range({.kind = abi::RangeKind::kPop, .ticks = kStart + 6, .domain = "NCCL"});
    ranges.range({.kind = abi::RangeKind::kEnd, .ticks = kStart + 7, .id = 7});
    ranges.range({.kind = abi::RangeKind::kMark, .ticks = kStart + 8, .name = "mark"});
    ranges.range({.kind = abi::RangeKind::kPop, .ticks = kStart + 9, .id = 3});
    ranges.info("nvtx", "injected");
    write("ranges", ranges);

    TraceBuilder losses = plain();
    losses.name(kStart, 0xf1, "_ZN2at6native3addIfEEvPT_");
    losses.call({.api = driver_launch(),
                 .begin = kStart + 1,
                 .end = kStart + 2,
                 .correlation = 8,
                 .function = 0xf1,
                 .flags = abi::kCallUnhooked});
    losses.call({.api = driver_launch(), .begin = kStart + 3, .end = kStart + 4, .correlation = 9, .status = -1});
    losses.activity({.name = "_ZN2at6native3addIfEEvPT_", .start = 0, .correlation = 7, .flags = abi::kDeviceUntimed});
    losses.loss(abi::LossCause::kCuptiDropped, 2, 1);
    losses.notice(kStart, "a notice");
    losses.end(kStart + 10, abi::EndKind::kSalvaged);
    losses.end(kStart + 10, abi::EndKind::kWaitStatus, 9, 7);
    write("losses", losses);
    return 0;
}

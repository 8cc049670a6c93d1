#include "tests/unit/analysis/scripts.hpp"

namespace gpuspy::test {

TraceBuilder begun_trace() {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.header.start_monotonic_ns = kStart + kHostOffset;
    trace.block_ticks(kStart + 2'000'000'000);
    for (const std::uint64_t ticks : {kStart, kStart + 1'000'000}) {
        trace.anchor(ticks, ticks + kHostOffset, on_device(ticks));
    }
    trace.span(kStart, abi::SpanKind::kHost, true);
    trace.span(kStart, abi::SpanKind::kDevice, true);
    trace.object(kStart, 0x1000, 0x2000, "/opt/torch/lib/libtorch_cuda.so");
    trace.object(kStart, 0x5000, 0x6000, "/home/ana/app");
    trace.thread(0, 100);
    return trace;
}

TraceBuilder varied_trace() {
    TraceBuilder trace = begun_trace();
    trace.device(0, "NVIDIA H200");
    trace.info("driver_version", "13.0");
    trace.name(kStart, 0xf1, "_Z4scalPfi");
    trace.cpu(kStart + 10, 1'000, 200, 10, 5);
    trace.range({.kind = abi::RangeKind::kPush, .ticks = kStart + 50, .name = "step"});
    trace.range({.kind = abi::RangeKind::kStart, .ticks = kStart + 60, .id = 1, .domain = "data", .name = "load"});
    trace.call({.api = driver_launch(),
                .begin = kStart + 110,
                .end = kStart + 150,
                .depth = 2,
                .correlation = 1,
                .function = 0xf1});
    trace.call({.api = runtime_launch(), .begin = kStart + 105, .end = kStart + 160, .depth = 1, .function = 0xf1});
    trace.call({.api = cudnn("cudnnConvolutionForward"), .begin = kStart + 100, .end = kStart + 200, .caller = 0x1500});
    trace.activity({.name = "_Z4scalPfi", .start = on_device(kStart + 300), .duration = 400, .correlation = 1});
    trace.range({.kind = abi::RangeKind::kMark, .depth = 1, .ticks = kStart + 205, .name = "mark"});
    trace.range({.kind = abi::RangeKind::kPop, .ticks = kStart + 206});
    trace.end_block();
    trace.graph_exec(kStart + 210, 0xe1, 9, 2);
    trace.graph_nodes(kStart + 210, 0xe1, {{0, 0, 0xf1, 0}, {1, 0, 0xf1, 0}});
    trace.call({.api = graph_launch(),
                .begin = kStart + 220,
                .end = kStart + 240,
                .correlation = 2,
                .caller = 0x5500,
                .exec = 0xe1});
    trace.activity({.name = "_Z4scalPfi",
                    .start = on_device(kStart + 800),
                    .duration = 100,
                    .correlation = 2,
                    .graph_exec_id = 9,
                    .graph_node = 0});
    trace.activity({.name = "_Z4scalPfi",
                    .start = on_device(kStart + 850),
                    .duration = 100,
                    .correlation = 2,
                    .graph_exec_id = 9,
                    .graph_node = 1});
    trace.new_segment();
    trace.compressed(false);
    trace.thread(1, 101, "loader");
    trace.range({.kind = abi::RangeKind::kEnd, .ticks = kStart + 390, .id = 1, .domain = "data"});
    trace.range({.kind = abi::RangeKind::kPush, .ticks = kStart + 395, .id = 2, .name = "open"});
    trace.call({.api = {"cudaMemcpy", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy, abi::kApiBlocking},
                .begin = kStart + 400,
                .end = kStart + 700,
                .correlation = 3,
                .copy_bytes = 4096,
                .copy_kind = 1});
    trace.activity({.tag = abi::Tag::kMemcpy,
                    .start = on_device(kStart + 500),
                    .duration = 100,
                    .correlation = 3,
                    .bytes = 4096,
                    .copy_kind = 1});
    trace.activity(
        {.tag = abi::Tag::kMemset, .start = on_device(kStart + 620), .duration = 10, .correlation = 4, .bytes = 64});
    trace.loss(abi::LossCause::kUnmappedPointer, 3);
    trace.call({.api = device_sync(), .begin = kStart + 900, .end = kStart + 1'000});
    trace.end_block();
    trace.cpu(kStart + 1'000, 1'900, 300, 30, 25);
    trace.cost(6, 17'000);
    trace.notice(kStart + 1'000, "a notice");
    trace.end(kStart + 1'100);
    return trace;
}

}  // namespace gpuspy::test

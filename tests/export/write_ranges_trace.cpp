// write_ranges_trace FILE WHAT: a trace of two threads with launches and kernels, and
//   plain    nothing else
//   ranges   NVTX ranges: in two domains that cross each other, start/end ranges that overlap, marks, one open before the
//            recording and one never ended
//   untimed  a device record without a usable time
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

void range(TraceBuilder& trace, abi::RangeKind kind, std::uint64_t at, std::uint64_t id, const std::string& name = "",
           const std::string& domain = "") {
    trace.range({.kind = kind, .ticks = at, .id = id, .domain = domain, .name = name});
}

void first_thread(TraceBuilder& trace) {
    range(trace, abi::RangeKind::kPush, kStart - 5'000, 0, "training");
    range(trace, abi::RangeKind::kStart, kStart + 500, 7, "request 7");
    range(trace, abi::RangeKind::kPush, kStart + 900, 1, "step");
    range(trace, abi::RangeKind::kPush, kStart + 950, 0, "stage", "loader");
    range(trace, abi::RangeKind::kMark, kStart + 960, 0, "here");
    range(trace, abi::RangeKind::kStart, kStart + 990, 8, "request 8");
    range(trace, abi::RangeKind::kPop, kStart + 21'000, 1);
    range(trace, abi::RangeKind::kEnd, kStart + 22'000, 7);
    range(trace, abi::RangeKind::kPop, kStart + 23'000, 0, "", "loader");  // after "step", in which it began
    range(trace, abi::RangeKind::kEnd, kStart + 24'000, 8);
    range(trace, abi::RangeKind::kPop, kStart + 30'000, 0);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc == 3 ? argv[2] : "";
    if (what != "plain" && what != "ranges" && what != "untimed") {
        std::fputs("usage: write_ranges_trace FILE plain|ranges|untimed\n", stderr);
        return 2;
    }
    TraceBuilder trace = begun_trace();
    for (std::uint64_t i = 1; i <= 20; ++i) {
        const std::uint64_t at = kStart + 1'000 * i;
        trace.call({.api = runtime_launch(), .begin = at, .end = at + 300, .correlation = i});
        trace.activity({.name = i % 2 == 0 ? "even" : "odd",
                        .start = on_device(at + 400),
                        .duration = 300 + 10 * i,
                        .correlation = i});
    }
    if (what == "ranges") {
        first_thread(trace);
        trace.thread(1, 101, "worker");  // which makes no call
        range(trace, abi::RangeKind::kPush, kStart + 2'000, 0, "waiting");
    }
    if (what == "untimed") {
        trace.activity({.name = "odd", .start = 0, .duration = 0, .correlation = 99});
    }
    trace.end(kStart + 900'000);
    const std::string bytes = trace.bytes();
    std::ofstream file(argv[1], std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    return file ? 0 : 1;
}

#include "tests/bench/analysis/made_trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collector/sink/file_header.hpp"

namespace gpuspy::bench {
namespace {

constexpr std::uint64_t kTicksPerNs = 2;
constexpr std::uint64_t kDeviceOffsetNs = 9'000'000'000;
constexpr std::uint64_t kPassTicks = 20'000'000 * kTicksPerNs;     // The drain thread's interval.
constexpr std::uint64_t kReturnTicks = 200'000'000 * kTicksPerNs;  // CUPTI is flushed five times a second.
constexpr std::uint64_t kAnchorTicks = 1'000'000'000 * kTicksPerNs;
constexpr std::uint64_t kSegmentBytes = 16U << 20;
constexpr std::uint32_t kTid = 100;

constexpr abi::ApiEntry kApis[kApiCount] = {
    {"cudaLaunchKernel", "runtime", 1, 1, 0, {}, ""},
    {"cuLaunchKernel", "driver", 0, 1, 0, {}, ""},
    {"cudaMemcpyAsync", "runtime", 1, 3, 0, {}, ""},
    {"cuMemcpyDtoHAsync_v2", "driver", 0, 3, 0, {}, ""},
    {"cudaStreamSynchronize", "runtime", 1, 5, abi::kApiBlocking, {}, ""},
    {"cudnnBackendExecute", "cudnn", 2, 7, 0, {}, "executionPlan:1p varianPack:2p"},
    {"cudnnSetTensorNdDescriptor", "cudnn", 2, 16, 0, {}, "tensorDesc:0p dataType:1i nbDims:2i dimA:3@2i strideA:4@2i"},
    {"cublasLtMatmul", "cublaslt", 2, 7, 0, {}, "computeDesc:1p Adesc:4p Bdesc:6p Cdesc:9p Ddesc:11p"},
};

void check(bool good, const char* what) {
    if (!good) {
        std::perror(what);
        std::exit(1);
    }
}

std::uint64_t device_ns(std::uint64_t ticks) {
    return ticks / kTicksPerNs + kDeviceOffsetNs;
}

}  // namespace

MadeTrace::MadeTrace(const std::string& path) : buffer_(1U << 20) {
    check(encoder_.init(buffer_.data(), buffer_.size(), kApis, kApiCount) == 0, "encoder");
    check(writer_.init(abi::kMaxBlockRawBytes) == 0, "writer");
    ::unlink(path.c_str());
    check(writer_.create(path.c_str()) == 0, path.c_str());
    sink::ProcessInfo process;
    process.pid = kTid;
    process.tick_hz = kTicksPerNs * 1'000'000'000;
    process.start_monotonic_ns = now_ticks / kTicksPerNs;
    process.start_realtime_ns = 1'700'000'000'000'000'000;
    process.exe = "/usr/bin/made";
    std::vector<std::uint8_t> header(sink::kMaxFileHeaderBytes);
    header.resize(sink::encode_file_header(header.data(), header.size(), 1, now_ticks, process));
    check(!header.empty() && writer_.write_header(header.data(), header.size()) == 0, "header");
    pass_ticks_ = return_ticks_ = now_ticks;
    emit([&] { return encoder_.device({0, "Made GPU", nullptr, 9, 0, 132, 1980000, 3201000, 6016, 1U << 30, ""}); });
    emit([&] { return encoder_.object({0, 0x10000, 0x20000, "/usr/lib/libtorch_cuda.so", ""}); });
    emit([&] { return encoder_.object({0, 0x20000, 0x30000, "/usr/lib/libcudart.so.13", ""}); });
    emit([&] { return encoder_.span(now_ticks, abi::SpanKind::kHost, true, ""); });
    emit([&] { return encoder_.span(now_ticks, abi::SpanKind::kDevice, true, ""); });
    begin_pass();
}

MadeTrace::~MadeTrace() {
    writer_.close();
    encoder_.destroy();
}

template <class Encode>
void MadeTrace::emit(Encode encode) {
    while (!encode()) {
        flush();
    }
}

void MadeTrace::put_anchor() {
    emit([&] {
        return encoder_.anchor({now_ticks, now_ticks / kTicksPerNs, 1'700'000'000'000'000'000 + now_ticks / kTicksPerNs,
                                device_ns(now_ticks), 100});
    });
    anchor_ticks_ = now_ticks;
}

void MadeTrace::begin_pass() {
    if (encoder_.wants_segment() || segment_bytes_ >= kSegmentBytes) {
        encoder_.begin_segment(encoder_.next_segment());
        segment_bytes_ = 0;
        anchor_ticks_ = 0;
    }
    if (anchor_ticks_ == 0 || now_ticks - anchor_ticks_ >= kAnchorTicks) {
        put_anchor();
    }
    pass_ticks_ = now_ticks;
}

void MadeTrace::flush() {
    const bool wants_segment = encoder_.wants_segment();
    if (encoder_.payload_bytes() != 0) {
        const sink::Block block = encoder_.finish_block();
        segment_bytes_ += block.raw_bytes;
        check(writer_.append_block(block, now_ticks) == 0, "write");
    }
    if (wants_segment) {
        encoder_.begin_segment(encoder_.next_segment());
        segment_bytes_ = 0;
        put_anchor();
    }
}

void MadeTrace::end_pass_when_due() {
    if (now_ticks - pass_ticks_ < kPassTicks) {
        return;
    }
    if (now_ticks - return_ticks_ >= kReturnTicks) {
        return_ticks_ = now_ticks;
        return_records(device_ns(now_ticks));
    }
    flush();
    begin_pass();
}

void MadeTrace::return_records(std::uint64_t until_ns) {
    for (; !running_.empty() && running_.front().end_ns() <= until_ns; running_.pop_front()) {
        const Returned& one = running_.front();
        emit([&] { return one.is_kernel ? encoder_.kernel(one.kernel) : encoder_.memcpy(one.copy); });
    }
}

void MadeTrace::put(const Call& call) {
    words_.assign(5, 0);
    std::uint32_t flags = abi::kCallCaller;
    const auto part = [&](abi::CallFlags flag, const auto& content) {
        flags |= flag;
        const std::size_t at = words_.size();
        words_.resize(at + sizeof content / 8);
        std::memcpy(&words_[at], &content, sizeof content);
    };
    if (call.has_stream) {
        part(abi::kCallStream, abi::StreamPart{0});
    }
    if (call.correlation != 0) {
        part(abi::kCallCorrelation, abi::CorrelationPart{call.correlation});
    }
    if (call.function != 0) {
        part(abi::kCallKernel, abi::KernelPart{call.function, {call.grid, 1, 1}, {call.block, 1, 1}, 0, 0});
    }
    if (call.copy_bytes != 0) {
        part(abi::kCallCopy, abi::CopyPart{call.copy_bytes, call.copy_kind, 0});
    }
    if (!call.arguments.empty()) {
        part(abi::kCallArguments, abi::ArgumentsPart{call.arguments.size()});
        for (const std::int64_t word : call.arguments) {
            words_.push_back(static_cast<std::uint64_t>(word));
        }
    }
    const abi::CallEvent event{{static_cast<std::uint16_t>(words_.size()), abi::EventType::kCall,
                                static_cast<std::uint8_t>(call.depth), call.api, 0},
                               flags,
                               0,
                               call.begin_ticks,
                               call.end_ticks,
                               call.caller};
    std::memcpy(words_.data(), &event, sizeof event);
    emit([&] {
        return (encoder_.is_current(0, kTid) || encoder_.thread(0, kTid, "python3")) &&
               encoder_.call(reinterpret_cast<const abi::CallEvent*>(words_.data()));
    });
    ++answers.calls[call.api];
    if (call.api == kStreamSync) {
        answers.sync_ns += (call.end_ticks - call.begin_ticks) / kTicksPerNs;
    }
    if (call.depth == 0) {
        end_pass_when_due();
    }
}

void MadeTrace::put(const sink::KernelRecord& record) {
    running_.push_back({true, record, {}});
    KernelTotals& totals = answers.kernels[record.name];
    const std::uint64_t duration_ns = record.end_ns - record.start_ns;
    ++totals.count;
    totals.time_ns += duration_ns;
    totals.min_ns = std::min(totals.min_ns, duration_ns);
    totals.max_ns = std::max(totals.max_ns, duration_ns);
    answers.busy_ns += duration_ns;
    ++answers.launches;
}

void MadeTrace::put(const sink::MemcpyRecord& record) {
    running_.push_back({false, {}, record});
    answers.busy_ns += record.end_ns - record.start_ns;
    answers.copy_bytes += record.bytes;
    ++answers.copies;
}

std::uint64_t MadeTrace::run_on_device(std::uint64_t ticks, std::uint64_t latency_ns, std::uint64_t duration_ns) {
    const std::uint64_t start_ns = std::max(device_ns(ticks) + latency_ns, device_free_ns_ + 640) / 32 * 32;
    device_free_ns_ = start_ns + duration_ns;
    return start_ns;
}

std::uint64_t MadeTrace::about(std::uint64_t middle, double spread) {
    // The sum of four even numbers is near enough to a bell; one call in a thousand is slow.
    const std::uint64_t bits = random_();
    const auto sum =
        static_cast<double>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
    const double deviation = (sum / 131070.0 - 1.0) * spread;
    const double slow = (bits & 1023) == 0 ? 2 : 0;
    return static_cast<std::uint64_t>(static_cast<double>(middle) * std::max(0.1, 1 + deviation + slow));
}

Answers MadeTrace::finish() {
    return_records(UINT64_MAX);
    now_ticks = std::max(now_ticks, (device_free_ns_ - kDeviceOffsetNs) * kTicksPerNs) + 1000;
    put_anchor();
    emit([&] { return encoder_.span(now_ticks, abi::SpanKind::kHost, false, "end of recording"); });
    emit([&] { return encoder_.end(now_ticks, abi::EndKind::kClean, 0, 0); });
    flush();
    answers.file_bytes = writer_.file_bytes();
    return answers;
}

}  // namespace gpuspy::bench

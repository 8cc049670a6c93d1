// A trace file written through the encoder and writer that the library in the host uses, in passes like the drain thread's:
// calls as they come, device records some time later, a block for each pass, a new segment after 16 MiB of payload.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "collector/abi/event.hpp"
#include "collector/sink/encoder.hpp"
#include "collector/sink/trace_writer.hpp"

namespace gpuspy::bench {

/// APIs of the table that a trace is made with, by position.
enum ApiNumber : std::uint16_t {
    kRuntimeLaunch,
    kDriverLaunch,
    kRuntimeCopy,
    kDriverCopy,
    kStreamSync,
    kCudnnExecute,
    kCudnnDescribe,
    kCublasLtMatmul,
    kApiCount
};

struct KernelTotals {
    std::uint64_t count = 0, time_ns = 0, min_ns = UINT64_MAX, max_ns = 0;
};

/// What the report must say of the trace.
struct Answers {
    std::uint64_t launches = 0, copies = 0, copy_bytes = 0, busy_ns = 0, sync_ns = 0;
    std::vector<std::uint64_t> calls = std::vector<std::uint64_t>(kApiCount);
    std::map<std::string, KernelTotals> kernels;
    std::uint64_t file_bytes = 0;
};

class MadeTrace {
public:
    /// Exits with a message when the file cannot be made.
    explicit MadeTrace(const std::string& path);
    ~MadeTrace();
    MadeTrace(const MadeTrace&) = delete;
    MadeTrace& operator=(const MadeTrace&) = delete;

    /// A call that lasts `ns` in all, with `inside` (if any) inside it; the host's time goes on. `scale` jitters.
    struct Call {
        ApiNumber api = kRuntimeLaunch;
        std::uint32_t depth = 0;
        std::uint64_t begin_ticks = 0, end_ticks = 0;
        std::uint64_t caller = 0;
        bool has_stream = false;
        std::uint64_t correlation = 0;
        std::uint64_t function = 0;  ///< Launches.
        std::uint32_t grid = 0, block = 0;
        std::uint64_t copy_bytes = 0;
        std::uint32_t copy_kind = 0;
        std::vector<std::int64_t> arguments{};
    };
    void put(const Call& call);
    void put(const sink::KernelRecord& record);
    void put(const sink::MemcpyRecord& record);

    /// The host's clock, in ticks of half a nanosecond.
    std::uint64_t now_ticks = 2'000'000'000;
    [[nodiscard]] std::uint64_t next_correlation() { return ++correlation_; }
    /// The device's time for something given at `ticks`: after the latency, or when what was given before is done.
    std::uint64_t run_on_device(std::uint64_t ticks, std::uint64_t latency_ns, std::uint64_t duration_ns);
    /// A number about `middle`, with a tail as host times have it.
    std::uint64_t about(std::uint64_t middle, double spread);

    /// Writes everything and closes; what was written.
    Answers finish();

    Answers answers;

private:
    template <class Encode>
    void emit(Encode encode);
    void flush();
    void begin_pass();
    void put_anchor();
    void end_pass_when_due();
    void return_records(std::uint64_t until_ns);

    struct Returned {
        bool is_kernel = false;
        sink::KernelRecord kernel;
        sink::MemcpyRecord copy;
        [[nodiscard]] std::uint64_t end_ns() const { return is_kernel ? kernel.end_ns : copy.end_ns; }
    };

    std::vector<std::uint8_t> buffer_;
    std::vector<std::uint64_t> words_;
    sink::Encoder encoder_;
    sink::TraceWriter writer_;
    std::mt19937_64 random_{7};
    std::deque<Returned> running_;  // Device records that CUPTI has not handed back yet.
    std::uint64_t correlation_ = 0;
    std::uint64_t device_free_ns_ = 0;
    std::uint64_t segment_bytes_ = 0;
    std::uint64_t pass_ticks_ = 0, return_ticks_ = 0, anchor_ticks_ = 0;
};

}  // namespace gpuspy::bench

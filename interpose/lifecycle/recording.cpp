#include "interpose/lifecycle/recording.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "collector/ring/clock.hpp"
#include "collector/ring/owned_fd.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/salvage.hpp"
#include "interpose/device/device.hpp"
#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/glibc.hpp"
#include "interpose/lifecycle/log.hpp"
#include "interpose/lifecycle/memory.hpp"
#include "interpose/lifecycle/process_info.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/lifecycle/wait.hpp"
#include "interpose/record/calibrate.hpp"
#include "interpose/record/names.hpp"
#include "interpose/record/stack.hpp"

namespace gpuspy::hook {

constinit Recording recording;

namespace {

constinit std::atomic<std::uint64_t> early_losses[abi::kLossCauseCount]{};  ///< Counted before there were rings.

bool has_thread_ended(std::uint32_t tid) noexcept {
    const ring::ErrnoGuard keep_errno;
    return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
}

void report_write_error(void*, int error, sink::WriteFault fault) noexcept {
    const char* const path = recording.output.path;
    repeat_names();
    switch (fault) {
        case sink::WriteFault::kNextPart:
            say("the next part of %s (%s.next) cannot be begun: %s; until it can, all is kept, and beyond %llu MiB "
                "nothing",
                path, path, strerror(error), static_cast<unsigned long long>(config().kept.bytes >> 20));
            return;
        case sink::WriteFault::kWrite:
        case sink::WriteFault::kFindAgain:
            say("%s of %s failed: %s; what is not written is missing from it, the program goes on",
                fault == sink::WriteFault::kWrite ? "write" : "find again", path, strerror(error));
            return;
    }
}

std::uint64_t make_nonce() noexcept {
    std::uint64_t nonce = 0;
#ifdef SYS_getrandom
    if (syscall(SYS_getrandom, &nonce, sizeof nonce, 0) == sizeof nonce && nonce != 0) return nonce;
#endif
    nonce = ring::ticks() * 0x9e3779b97f4a7c15U ^ static_cast<std::uint64_t>(getpid()) << 32;
    return nonce | 1;
}

/// Rate of the counter in Hz, from two readings at least 1 ms apart.
std::uint64_t measure_tick_hz(const ring::ClockPair& first) noexcept {
    std::uint64_t hz = ring::estimate_tick_hz(first, ring::read_clock_pair());
    if (hz == 0) {
        pause_ns(1'200'000);
        hz = ring::estimate_tick_hz(first, ring::read_clock_pair());
    }
    return hz;
}

std::uint64_t measure_call_ps(std::uint64_t tick_hz) noexcept {
    constexpr std::uint64_t kScratchBytes = 16 << 10;
    auto* scratch_ring = static_cast<abi::RingHeader*>(map_memory(sizeof(abi::RingHeader) + kScratchBytes));
    auto* scratch = static_cast<ThreadState*>(map_memory(sizeof(ThreadState)));
    if (scratch_ring == nullptr || scratch == nullptr || tick_hz == 0) return 0;
    scratch->ring = scratch_ring;
    scratch->ring_bytes = kScratchBytes;
    scratch->stack_end = own_stack_end();
    const double ticks = static_cast<double>(measure_call_ticks(*scratch));
    return static_cast<std::uint64_t>(ticks * 1e12 / static_cast<double>(tick_hz));
}

/// What the trace begins with; without memory for it there is none.
void encode_header(sink::ProcessInfo& process, std::uint64_t nonce, std::uint64_t start_ticks,
                   sink::OutputRequest& request) noexcept {
    static char ring_path[abi::kPathBytes];  // static: a host's thread may have a small stack
    ring::build_ring_path(sink::kRingDirectory, request.pid, nonce, ring_path, sizeof ring_path);
    process.ring_path = ring_path;
    auto* buffer = static_cast<std::uint8_t*>(map_memory(sink::kMaxFileHeaderBytes));
    if (buffer == nullptr) return;
    request.header = buffer;
    request.header_bytes = sink::encode_file_header(buffer, sink::kMaxFileHeaderBytes, nonce, start_ticks, process);
}

/// The rings that dead processes of this user left go into their traces. Before any file of ours is open: closing another
/// descriptor of it would give its lock back. The host waits in its first CUDA call: what takes longer is for who comes next.
void reap_dead(const char* boot_id) noexcept {
    constexpr sink::SalvageLimit kLimit{16, 500'000'000};
    sink::SalvageFilter filter;
    filter.boot_id = boot_id;
    sink::salvage_directory(
        sink::kRingDirectory, filter, [](void*, const sink::SalvageResult&) {}, nullptr, kLimit);
}

/// What the flight recorder keeps; nothing where the output can only grow.
sink::KeptLimit kept_limit() noexcept {
    if (config().kept.bytes == 0 || recording.writer.is_regular()) return config().kept;
    say("GPUSPY_LAST needs a file, and %s is none: everything is written", recording.output.path);
    return {};
}

}  // namespace

int start_recording() noexcept {
    const Config& settings = config();
    report_bad_config();
    if (settings.output[0] == 0) {
        say("GPUSPY_OUTPUT is too long, or the working directory has no path; nothing is recorded");
        return ENAMETOOLONG;
    }
    if (!ring::has_descriptors_to_spare()) {
        say("too few files may be open (ulimit -n) for the program and gpuspy; nothing is recorded");
        return EMFILE;
    }
    const ring::ClockPair start = ring::read_clock_pair();
    const std::uint64_t start_realtime_ns = ring::read_clock_ns(CLOCK_REALTIME);

    sink::ProcessInfo process;
    read_process_info(process);
    process.start_monotonic_ns = start.monotonic_ns;
    process.start_realtime_ns = start_realtime_ns;

    sink::OutputRequest request;
    request.path = settings.output;
    request.pid = static_cast<std::uint32_t>(process.pid);
    request.run_id = settings.run_id;
    reap_dead(process.boot_id);
    process.tick_hz = measure_tick_hz(start);
    const std::uint64_t nonce = make_nonce();
    encode_header(process, nonce, start.ticks, request);
    if (const int error = sink::open_output(request, &recording.output); error != 0) {
        say("%s; nothing is recorded", recording.output.message);
        return error;
    }

    ring::RingSetConfig layout;
    layout.ring_bytes = settings.ring_bytes;
    layout.directory = sink::kRingDirectory;
    layout.nonce = nonce;
    layout.run_id = settings.run_id;
    layout.pid = request.pid;
    layout.trace_path = recording.output.path;
    layout.boot_id = process.boot_id;
    layout.apis = kApiTable;
    layout.api_count = kHookCount;
    layout.has_thread_ended = has_thread_ended;
    int error = recording.writer.init(abi::kMaxBlockRawBytes, report_write_error);
    if (error == 0) error = recording.writer.adopt(recording.output.fd, recording.output.path);
    // A file that was there empty, or a pipe, has no header yet; it has one before there are rings that a salvager would ask about.
    if (error == 0 && request.header == nullptr) error = ENOMEM;
    if (recording.output.has_header) recording.writer.has_header(request.header_bytes);
    if (error == 0 && !recording.output.has_header)
        error = recording.writer.write_header(request.header, request.header_bytes);
    if (error == 0) error = recording.rings.create(layout);
    sink::DrainConfig drain_settings;
    drain_settings.header = request.header;
    drain_settings.header_bytes = request.header_bytes;
    if (error == 0) drain_settings.kept = kept_limit();
    drain_settings.interval_ms = settings.drain_ms;
    drain_settings.call_ps = measure_call_ps(process.tick_hz);
    drain_settings.create_thread = gpuspy_pthread_create;
    if (error == 0) error = recording.drain.init(recording.rings, recording.writer, device_source(), drain_settings);
    for (std::size_t cause = 0; error == 0 && cause < abi::kLossCauseCount; ++cause) {
        recording.rings.header()->lost[cause].fetch_add(early_losses[cause].exchange(0, std::memory_order_relaxed),
                                                        std::memory_order_relaxed);
    }
    if (error == 0) error = recording.drain.start();
    if (error != 0) {
        say("recording to %s could not start: %s; nothing is recorded", recording.output.path, strerror(error));
        recording.rings.mark_ended_and_unlink();
        return error;
    }
    return 0;
}

void count_loss(abi::LossCause cause, std::uint64_t count) noexcept {
    abi::MapHeader* header = recording.rings.header();
    auto& counter = header != nullptr ? header->lost[static_cast<std::size_t>(cause)]
                                      : early_losses[static_cast<std::size_t>(cause)];
    counter.fetch_add(count, std::memory_order_relaxed);
}

}  // namespace gpuspy::hook

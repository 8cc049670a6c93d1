#include "interpose/lifecycle/session.hpp"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "collector/ring/clock.hpp"
#include "collector/ring/owned_fd.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/output_path.hpp"
#include "collector/sink/salvage.hpp"
#include "interpose/device/device.hpp"
#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/generation.hpp"
#include "interpose/lifecycle/glibc.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/log.hpp"
#include "interpose/lifecycle/memory.hpp"
#include "interpose/lifecycle/process_info.hpp"
#include "interpose/lifecycle/wait.hpp"
#include "interpose/nvtx/inject.hpp"
#include "interpose/nvtx/range_events.hpp"
#include "interpose/record/calibrate.hpp"
#include "interpose/record/capture.hpp"
#include "interpose/record/stack.hpp"
#include "interpose/resolve/elf.hpp"

namespace gpuspy::hook {
namespace {

enum class State : std::uint32_t { kIdle, kRecording, kEnded, kOff };

constexpr std::uint32_t kExitFlushMs = 2000;
constexpr std::uint32_t kObjectsFlushMs = 100;

ForkPage& page() noexcept {
    return *fork_page.load(std::memory_order_relaxed);
}

// Constant-initialised and never destroyed: hooks run before our constructors and after our destructors.
constinit std::atomic<State> state{State::kIdle};
constinit std::uint32_t last_generation = 0;
constinit ring::RingSet rings;
constinit sink::TraceWriter writer;
constinit sink::Drain drain;
/// By the index of the ring: who has the ring has the state.
constinit std::atomic<ThreadState*> thread_states[abi::kMaxRings]{};
constinit SpinLock session_lock;  ///< Start and end.
constinit pthread_key_t thread_key;
constinit bool has_thread_key = false;
constinit pid_t recording_pid = 0;
constinit bool has_exit_handler = false;
constinit std::atomic<std::uint64_t> early_losses[abi::kLossCauseCount]{};  ///< Counted before there were rings.
constinit std::atomic<std::uint64_t> late_calls{0};                         ///< After the recording had ended.
constinit std::atomic<unsigned long long> saved_adds{0};         ///< Objects loaded so far, as the trace has them.
constinit std::atomic<std::uint32_t> open_starts_generation{0};  ///< Of the recording that has the open NVTX starts.
constinit sink::Output output;                                   // static: a host's thread may have a small stack

void thread_ended(void* pointer) noexcept {
    auto* thread = static_cast<ThreadState*>(pointer);
    // A child's thread: the ring is the parent's.
    if (thread_local_state.generation != current_generation() || thread_local_state.state != thread) return;
    thread_local_state.state = nullptr;
    thread_local_state.generation = 0;
    ring::RingSet::release(thread->ring);
}

bool has_thread_ended(std::uint32_t tid) noexcept {
    const ring::ErrnoGuard keep_errno;
    return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
}

void report_write_error(void*, int error, sink::WriteFault fault) noexcept {
    switch (fault) {
        case sink::WriteFault::kNextPart:
            say("the next part of %s (%s.next) cannot be begun: %s; until it can, all is kept, and beyond %llu MiB "
                "nothing",
                output.path, output.path, strerror(error), static_cast<unsigned long long>(config().kept.bytes >> 20));
            return;
        case sink::WriteFault::kWrite:
        case sink::WriteFault::kFindAgain:
            say("%s of %s failed: %s; what is not written is missing from it, the program goes on",
                fault == sink::WriteFault::kWrite ? "write" : "find again", output.path, strerror(error));
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
    if (config().kept.bytes == 0 || writer.is_regular()) return config().kept;
    say("GPUSPY_LAST needs a file, and %s is none: everything is written", output.path);
    return {};
}

/// Everything that recording needs. 0, or an errno value after one line on stderr.
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
    if (const int error = sink::open_output(request, &output); error != 0) {
        say("%s; nothing is recorded", output.message);
        return error;
    }

    ring::RingSetConfig layout;
    layout.ring_bytes = settings.ring_bytes;
    layout.directory = sink::kRingDirectory;
    layout.nonce = nonce;
    layout.run_id = settings.run_id;
    layout.pid = request.pid;
    layout.trace_path = output.path;
    layout.boot_id = process.boot_id;
    layout.apis = kApiTable;
    layout.api_count = kHookCount;
    layout.has_thread_ended = has_thread_ended;
    int error = writer.init(abi::kMaxBlockRawBytes, report_write_error);
    if (error == 0) error = writer.adopt(output.fd, output.path);
    // A file that was there empty, or a pipe, has no header yet; it has one before there are rings that a salvager would ask about.
    if (error == 0 && request.header == nullptr) error = ENOMEM;
    if (output.has_header) writer.has_header(request.header_bytes);
    if (error == 0 && !output.has_header) error = writer.write_header(request.header, request.header_bytes);
    if (error == 0) error = rings.create(layout);
    sink::DrainConfig drain_settings;
    drain_settings.header = request.header;
    drain_settings.header_bytes = request.header_bytes;
    if (error == 0) drain_settings.kept = kept_limit();
    drain_settings.interval_ms = settings.drain_ms;
    drain_settings.call_ps = measure_call_ps(process.tick_hz);
    drain_settings.create_thread = gpuspy_pthread_create;
    if (error == 0) error = drain.init(rings, writer, device_source(), drain_settings);
    for (std::size_t cause = 0; error == 0 && cause < abi::kLossCauseCount; ++cause) {
        rings.header()->lost[cause].fetch_add(early_losses[cause].exchange(0, std::memory_order_relaxed),
                                              std::memory_order_relaxed);
    }
    if (error == 0) error = drain.start();
    if (error != 0) {
        say("recording to %s could not start: %s; nothing is recorded", output.path, strerror(error));
        rings.mark_ended_and_unlink();
        return error;
    }
    return 0;
}

void end_recording() noexcept {
    if (page().owner.load(std::memory_order_relaxed) != kThisProcess) return;  // a child runs its parent's handlers
    if (state.load(std::memory_order_relaxed) != State::kRecording) return;
    const int saved_errno = errno;
    const InsideGpuspy inside;
    drain.stop(kExitFlushMs);
    state.store(State::kEnded, std::memory_order_relaxed);
    page().generation.store(0, std::memory_order_relaxed);
    errno = saved_errno;
}

/// In a child: nothing of the parent's recording is ours. Rings and file are closed, not ended.
void forget_parent() noexcept {
    rings.forget_after_fork();
    writer.forget_after_fork();
    drain.forget_after_fork();
    device_forget_after_fork();
    nvtx::forget_facts();
    late_calls.store(0, std::memory_order_relaxed);
    active_captures.store(0, std::memory_order_relaxed);
    saved_adds.store(0, std::memory_order_relaxed);
    thread_local_state.state = nullptr;
    thread_local_state.generation = 0;
    state.store(State::kIdle, std::memory_order_relaxed);
}

void notice_fork() noexcept {
    std::uint32_t expected = kChild;
    if (page().owner.compare_exchange_strong(expected, kForgetting, std::memory_order_acquire)) {
        forget_parent();
        page().owner.store(kThisProcess, std::memory_order_release);
    }
    while (page().owner.load(std::memory_order_acquire) == kForgetting) sched_yield();
}

/// Asked again after a fork: a child has its parent's settings, and another pid.
bool may_record() noexcept {
    const std::uint64_t only_pid = config().only_pid;
    return !config().disabled && (only_pid == 0 || only_pid == static_cast<std::uint64_t>(getpid()));
}

bool is_recording_or_start() noexcept {
    // Before the lock is taken: a child forked while another thread holds it must be able to notice.
    make_fork_page();
    if (page().owner.load(std::memory_order_relaxed) != kThisProcess) notice_fork();
    if (state.load(std::memory_order_acquire) == State::kIdle) {
        const Locked guard(session_lock);
        if (state.load(std::memory_order_relaxed) == State::kIdle) {
            if (!may_record() || start_recording() != 0) {
                state.store(State::kOff, std::memory_order_release);
            } else {
                if (!has_thread_key) has_thread_key = gpuspy_pthread_key_create(&thread_key, thread_ended) == 0;
                // A forked child has its parent's: another thread of the parent may have held the C library's lock for them.
                if (!has_exit_handler) register_exit_handler();
                has_exit_handler = true;
                recording_pid = getpid();
                page().generation.store(++last_generation, std::memory_order_relaxed);
                state.store(State::kRecording, std::memory_order_release);
            }
        }
    }
    return state.load(std::memory_order_acquire) == State::kRecording;
}

/// For who has the ring with this index. nullptr: no memory.
ThreadState* state_of(std::uint32_t ring_index) noexcept {
    std::atomic<ThreadState*>& place = thread_states[ring_index];
    ThreadState* thread = place.load(std::memory_order_relaxed);
    if (thread == nullptr) {
        thread = static_cast<ThreadState*>(map_memory(sizeof(ThreadState)));
        place.store(thread, std::memory_order_relaxed);
    }
    return thread;
}

/// No thread but the calling one has a ring.
bool is_recording_alone() noexcept {
    const abi::RingHeader* const own = thread_local_state.state != nullptr ? thread_local_state.state->ring : nullptr;
    for (std::uint32_t i = 0; i < rings.ring_count(); ++i) {
        const abi::RingHeader* const ring = rings.ring(i);
        if (ring != own && ring->thread_ended.load(std::memory_order_acquire) == 0) return false;
    }
    return true;
}

/// Off or ended, for good: its hooks cost no more than these two loads. A forked child is not over, it begins anew.
bool is_over() noexcept {
    const State now = state.load(std::memory_order_relaxed);
    return (now == State::kOff || now == State::kEnded) && page().owner.load(std::memory_order_relaxed) == kThisProcess;
}

/// A ring for this thread, remembered as tried when there is none: then the thread's hooks pass through.
ThreadState* claim_ring() noexcept {
    ThreadLocal& local = thread_local_state;
    local.generation = current_generation();
    local.state = nullptr;
    abi::RingHeader* const ring = rings.claim(static_cast<std::uint32_t>(current_tid()), ring::ticks());
    if (ring == nullptr) return nullptr;
    ThreadState* thread = state_of(ring->index);
    if (thread == nullptr) {
        ring::RingSet::release(ring);
        return nullptr;
    }
    *thread = ThreadState{};
    thread->ring = ring;
    thread->ring_bytes = rings.ring_bytes();
    thread->stack_end = own_stack_end();
    local.state = thread;
    if (has_thread_key) gpuspy_pthread_setspecific(thread_key, thread);
    return thread;
}

}  // namespace

ThreadState* enter_recording(bool counts) noexcept {
    ThreadLocal& local = thread_local_state;
    if (local.inside_gpuspy) return nullptr;
    if (is_over()) {
        if (counts && state.load(std::memory_order_relaxed) == State::kEnded)
            late_calls.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    }
    const std::uint32_t generation = current_generation();
    if (generation != 0 && local.generation == generation) {
        if (counts && local.state == nullptr) count_loss(abi::LossCause::kNoRing, 1);
        return local.state;
    }
    const int saved_errno = errno;
    const SignalsHeld no_signals;  // First, so that a signal that came meanwhile finds its thread outside.
    const InsideGpuspy inside;
    ThreadState* thread = nullptr;
    if (is_recording_or_start()) {
        thread = claim_ring();
        if (thread == nullptr) count_loss(abi::LossCause::kNoRing, 1);
    }
    if (thread != nullptr) {
        const std::uint32_t now = thread_local_state.generation;
        nvtx::write_open_ranges(*thread, open_starts_generation.exchange(now, std::memory_order_relaxed) != now);
    }
    errno = saved_errno;
    return thread;
}

ThreadState* current_thread() noexcept {
    const ThreadLocal& local = thread_local_state;
    const std::uint32_t generation = current_generation();
    return generation != 0 && local.generation == generation ? local.state : nullptr;
}

void count_loss(abi::LossCause cause, std::uint64_t count) noexcept {
    abi::MapHeader* header = rings.header();
    auto& counter = header != nullptr ? header->lost[static_cast<std::size_t>(cause)]
                                      : early_losses[static_cast<std::size_t>(cause)];
    counter.fetch_add(count, std::memory_order_relaxed);
}

void wake_drain() noexcept {
    drain.wake();
}

void end_without_handlers() noexcept {
    // A child of vfork has its parent's memory, and is about to leave it: the recording is the parent's.
    const State now = state.load(std::memory_order_relaxed);
    if ((now != State::kRecording && now != State::kEnded) || recording_pid != getpid()) return;
    if (now == State::kEnded) {
        say_late_calls();  // no destructor will
        return;
    }
    if (is_recording_alone()) {
        end_recording();
        return;
    }
    // Other threads record until the process is gone: what they write now is left in the rings, for a salvager. What CUPTI still
    // holds would be gone.
    const int saved_errno = errno;
    const InsideGpuspy inside;
    device_flush_next();
    drain.flush(kExitFlushMs);
    errno = saved_errno;
}

bool flush_trace(std::uint32_t timeout_ms) noexcept {
    return drain.flush(timeout_ms);
}

void save_objects() noexcept {
    if (current_generation() == 0 || thread_local_state.inside_gpuspy) return;
    const unsigned long long adds = elf::load_counts().adds;
    if (adds == saved_adds.load(std::memory_order_relaxed)) return;
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    if (drain.flush(kObjectsFlushMs)) saved_adds.store(adds, std::memory_order_relaxed);
}

void register_exit_handler() noexcept {
    atexit(end_recording);
}

void say_late_calls() noexcept {
    if (page().owner.load(std::memory_order_relaxed) != kThisProcess) return;
    if (state.load(std::memory_order_relaxed) == State::kEnded) drain.add_late_calls(late_calls.exchange(0));
}

}  // namespace gpuspy::hook

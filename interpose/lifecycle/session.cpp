#include "interpose/lifecycle/session.hpp"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "collector/ring/clock.hpp"
#include "collector/ring/owned_fd.hpp"
#include "interpose/device/device.hpp"
#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/generation.hpp"
#include "interpose/lifecycle/glibc.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/memory.hpp"
#include "interpose/lifecycle/recording.hpp"
#include "interpose/nvtx/inject.hpp"
#include "interpose/nvtx/range_events.hpp"
#include "interpose/record/capture.hpp"
#include "interpose/record/names.hpp"
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
/// By the index of the ring: who has the ring has the state.
constinit std::atomic<ThreadState*> thread_states[abi::kMaxRings]{};
constinit SetUpLock session_lock;  ///< Start and end.
constinit pthread_key_t thread_key;
constinit bool has_thread_key = false;
constinit pid_t recording_pid = 0;
constinit bool has_exit_handler = false;
constinit std::atomic<std::uint64_t> late_calls{0};              ///< After the recording had ended.
constinit std::atomic<unsigned long long> saved_adds{0};         ///< Objects loaded so far, as the trace has them.
constinit std::atomic<std::uint32_t> open_starts_generation{0};  ///< Of the recording that has the open NVTX starts.

void thread_ended(void* pointer) noexcept {
    auto* thread = static_cast<ThreadState*>(pointer);
    // A child's thread: the ring is the parent's.
    if (thread_local_state.generation != current_generation() || thread_local_state.state != thread) return;
    thread_local_state.state = nullptr;
    thread_local_state.generation = 0;
    ring::RingSet::release(thread->ring);
}

void end_recording() noexcept {
    if (page().owner.load(std::memory_order_relaxed) != kThisProcess) return;  // a child runs its parent's handlers
    if (state.load(std::memory_order_relaxed) != State::kRecording) return;
    const int saved_errno = errno;
    const InsideGpuspy inside;
    recording.drain.stop(kExitFlushMs);
    state.store(State::kEnded, std::memory_order_relaxed);
    page().generation.store(0, std::memory_order_relaxed);
    errno = saved_errno;
}

/// In a child: nothing of the parent's recording is ours. Rings and file are closed, not ended.
void forget_parent() noexcept {
    recording.rings.forget_after_fork();
    recording.writer.forget_after_fork();
    recording.drain.forget_after_fork();
    device_forget_after_fork();
    nvtx::forget_facts();
    forget_names();
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
                page().passes.store(true, std::memory_order_relaxed);
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
    for (std::uint32_t i = 0; i < recording.rings.ring_count(); ++i) {
        const abi::RingHeader* const ring = recording.rings.ring(i);
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
    abi::RingHeader* const ring = recording.rings.claim(static_cast<std::uint32_t>(current_tid()), ring::ticks());
    if (ring == nullptr) return nullptr;
    ThreadState* thread = state_of(ring->index);
    if (thread == nullptr) {
        ring::RingSet::release(ring);
        return nullptr;
    }
    *thread = ThreadState{};
    thread->ring = ring;
    thread->ring_bytes = recording.rings.ring_bytes();
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

void wake_drain() noexcept {
    recording.drain.wake();
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
    recording.drain.flush(kExitFlushMs);
    errno = saved_errno;
}

bool flush_trace(std::uint32_t timeout_ms) noexcept {
    return recording.drain.flush(timeout_ms);
}

void save_objects() noexcept {
    if (current_generation() == 0 || thread_local_state.inside_gpuspy) return;
    const unsigned long long adds = elf::load_counts().adds;
    if (adds == saved_adds.load(std::memory_order_relaxed)) return;
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    if (recording.drain.flush(kObjectsFlushMs)) saved_adds.store(adds, std::memory_order_relaxed);
}

void register_exit_handler() noexcept {
    atexit(end_recording);
}

void say_late_calls() noexcept {
    if (page().owner.load(std::memory_order_relaxed) != kThisProcess) return;
    if (state.load(std::memory_order_relaxed) == State::kEnded) recording.drain.add_late_calls(late_calls.exchange(0));
}

}  // namespace gpuspy::hook

// What a thread knows of itself: its ring and the hooked calls it is in.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/abi/ring_layout.hpp"
#include "interpose/lifecycle/glibc.hpp"
#include "interpose/table/hooks.hpp"

namespace gpuspy::hook {

/// A hooked call that a thread is in.
struct OpenCall {
    const void* frame;  ///< Address of the hook's stack frame.
    HookId id;
    std::uint16_t reserved;
    std::uint32_t flags;  ///< abi::CallFlags that the calls inside it set (kCallReentered).
};

/// A launch whose configuration was a call of its own (CUDA up to 10.0).
struct LaunchConfiguration {
    std::uint32_t grid[3];
    std::uint32_t block[3];
    std::uint32_t shared_bytes;
    std::uint64_t stream;
};

inline constexpr std::uint32_t kMaxDepth = 48;

/// In our own memory; a thread-local pointer leads to it, so that static TLS stays small.
struct ThreadState {
    abi::RingHeader* ring;
    std::uint64_t ring_bytes;
    const void* stack_end;  ///< own_stack_end()
    std::uint32_t depth;
    /// Not nullptr: between reserving room in the ring and committing, the ring must not be touched. The frame that writes.
    const void* writer;
    std::uint32_t device_calls;      ///< Driver calls that make device work and that the thread is in (0 or 1).
    LaunchConfiguration configured;  ///< By the thread's last cudaConfigureCall.
    OpenCall open[kMaxDepth];
};

namespace nvtx {
struct OpenPushes;
}

/// The static TLS of the library, but for a word of collector/sink/loaded_objects.cpp (initial-exec; a dlopened library may have little room for it).
struct ThreadLocal {
    ThreadState* state;
    /// Of the process's recording (see generation.hpp); 0 never matches.
    std::uint32_t generation;
    /// CUPTI's id of the driver call that the thread is in: set by the subscriber callback, read by the hook around it.
    std::uint32_t correlation;
    /// The thread is inside our own set-up code: its hooks pass through.
    bool inside_gpuspy;
    /// The driver call that CUPTI told of and that no hook saw (subscriber.cpp).
    std::uint32_t unhooked_correlation;
    std::uint64_t unhooked_begin_ticks;
    /// What the thread last asked of a buffer of CUPTI's records (host_records.cpp).
    std::uintptr_t read_buffer;
    std::uint64_t read_word;
    std::uint32_t read_version;
    /// It is in a flush of CUPTI that the host knows nothing of (shared_buffers.cpp).
    bool flushes_for_us;
    nvtx::OpenPushes* pushes;  ///< The thread's open NVTX ranges; nullptr: it has had none.
};

extern thread_local constinit ThreadLocal thread_local_state;

/// Calls of CUDA that we make ourselves, and look-ups inside set-up, are not the host's: hooks pass through meanwhile.
/// Nor may the thread be cancelled there: set-up code takes locks and calls functions that are cancellation points.
class InsideGpuspy {
public:
    InsideGpuspy() noexcept : before_(thread_local_state.inside_gpuspy) {
        gpuspy_pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
        thread_local_state.inside_gpuspy = true;
    }
    ~InsideGpuspy() {
        thread_local_state.inside_gpuspy = before_;
        gpuspy_pthread_setcancelstate(cancel_state_, nullptr);
    }
    InsideGpuspy(const InsideGpuspy&) = delete;
    InsideGpuspy& operator=(const InsideGpuspy&) = delete;

private:
    bool before_;
    int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

/// A function of the host's, called from inside our own code: its hooks do not pass through.
class OutsideGpuspy {
public:
    OutsideGpuspy() noexcept : before_(thread_local_state.inside_gpuspy) { thread_local_state.inside_gpuspy = false; }
    ~OutsideGpuspy() { thread_local_state.inside_gpuspy = before_; }
    OutsideGpuspy(const OutsideGpuspy&) = delete;
    OutsideGpuspy& operator=(const OutsideGpuspy&) = delete;

private:
    bool before_;
};

/// A handler of the host that jumps away would leave its thread inside us, and our locks held. Not the signals of faults, nor those
/// that the C library needs. The system call itself: a sanitizer's runtime may stand in front of the C library's function.
class SignalsHeld {
public:
    SignalsHeld() noexcept {
        constexpr auto bit = [](int signal) { return std::uint64_t{1} << (signal - 1); };
        constexpr std::uint64_t kMask =
            ~(bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP) | bit(SIGSYS) | bit(32) | bit(33));
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kMask, &before_, sizeof kMask);
    }
    ~SignalsHeld() { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

private:
    std::uint64_t before_ = 0;
};

}  // namespace gpuspy::hook

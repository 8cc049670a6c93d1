#include "interpose/record/stack.hpp"

#include <sys/auxv.h>

#include <cstdint>

#include "collector/ring/owned_fd.hpp"
#include "interpose/lifecycle/glibc.hpp"

namespace gpuspy::hook {
namespace {

/// Whether the thread is in a handler on its alternate stack, and `frame` is not on that stack.
bool is_interrupted(const void* frame) noexcept {
    const ring::ErrnoGuard keep_errno;
    stack_t stack{};
    if (sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) == 0) return false;
    const auto at = reinterpret_cast<std::uintptr_t>(frame);
    const auto begin = reinterpret_cast<std::uintptr_t>(stack.ss_sp);
    return at < begin || at >= begin + stack.ss_size;
}

}  // namespace

const void* own_stack_end() noexcept {
    // The kernel puts the program's name above the first frame; the C library puts a thread's own data above that of a thread.
    if (current_tid() == getpid()) return reinterpret_cast<const void*>(getauxval(AT_EXECFN));
    return reinterpret_cast<const void*>(pthread_self());
}

bool is_left_below(const void* frame, const void* now, const void* stack_end) noexcept {
    if (now > stack_end && frame <= stack_end) return false;
    return !is_interrupted(frame);
}

}  // namespace gpuspy::hook

// _exit and _Exit are exported: a process that leaves by them runs no exit handler (each worker of Python's multiprocessing does), and
// the device records that CUPTI still holds, and the clean end, would be lost. What was in the rings would not.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "interpose/lifecycle/exit_entry.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/resolve/real_dl.hpp"

namespace gpuspy::hook {
namespace {

/// The next ones: another preloaded library may have its own. Found as we are loaded, since a look-up takes the loader's lock, which
/// another thread, or vfork's parent, may hold.
constinit std::atomic<void (*)(int)> next_exit{nullptr};
constinit std::atomic<void (*)(int)> next_c_exit{nullptr};

[[noreturn]] void leave(const std::atomic<void (*)(int)>& next, int status) noexcept {
    end_without_handlers();
    if (const auto function = next.load(std::memory_order_acquire)) function(status);
    for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

void find_exits() noexcept {
    next_exit.store(reinterpret_cast<void (*)(int)>(real_next("_exit", nullptr)), std::memory_order_release);
    next_c_exit.store(reinterpret_cast<void (*)(int)>(real_next("_Exit", nullptr)), std::memory_order_release);
}

}  // namespace gpuspy::hook

extern "C" {

[[gnu::visibility("default"), noreturn]] void _exit(int status) {
    gpuspy::hook::leave(gpuspy::hook::next_exit, status);
}

[[gnu::visibility("default"), noreturn]] void _Exit(int status) {
    gpuspy::hook::leave(gpuspy::hook::next_c_exit, status);
}
}

// _exit and _Exit are exported: a process that leaves by them runs no exit handler (each worker of Python's multiprocessing does), and
// the device records that CUPTI still holds, and the clean end, would be lost. What was in the rings would not.
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/lifecycle/session.hpp"
#include "interpose/resolve/real_dl.hpp"

namespace gpuspy::hook {
namespace {

[[noreturn]] void leave(const char* name, int status) noexcept {
    end_without_handlers();
    // The next one: another preloaded library may have its own.
    if (const auto next = reinterpret_cast<void (*)(int)>(real_next(name, nullptr))) next(status);
    for (;;) syscall(SYS_exit_group, status);
}

}  // namespace
}  // namespace gpuspy::hook

extern "C" {

[[gnu::visibility("default"), noreturn]] void _exit(int status) {
    gpuspy::hook::leave("_exit", status);
}

[[gnu::visibility("default"), noreturn]] void _Exit(int status) {
    gpuspy::hook::leave("_Exit", status);
}
}

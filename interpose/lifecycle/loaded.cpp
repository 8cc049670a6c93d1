// The only constructor and the only destructor of the library.
#include <pthread.h>

#include "collector/sink/loaded_objects.hpp"
#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/exit_entry.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/nvtx/open_ranges.hpp"

namespace gpuspy::hook {
namespace {

// A relative GPUSPY_OUTPUT means the directory in which the program was started, wherever it goes later.
[[gnu::constructor]] void loaded() noexcept {
    config();
    find_exits();
    // As early as can be: handlers that are registered first are the last to run before the fork, and the first in the child.
    sink::keep_forks_off_loaded_objects();
    pthread_atfork(nullptr, nullptr, nvtx::forget_half_made_starts);
}

[[gnu::destructor]] void unloaded() noexcept {
    say_late_calls();
}

}  // namespace
}  // namespace gpuspy::hook

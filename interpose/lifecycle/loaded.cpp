// The only constructor of the library.
#include "collector/sink/loaded_objects.hpp"
#include "interpose/lifecycle/config.hpp"

namespace gpuspy::hook {
namespace {

// A relative GPUSPY_OUTPUT means the directory in which the program was started, wherever it goes later.
[[gnu::constructor]] void loaded() noexcept {
    config();
    // As early as can be: handlers that are registered first are the last to run before the fork, and the first in the child.
    sink::keep_forks_off_loaded_objects();
}

}  // namespace
}  // namespace gpuspy::hook

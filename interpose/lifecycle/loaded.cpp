// The only constructor and the only destructor of the library.
#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/session.hpp"

namespace gpuspy::hook {
namespace {

// A relative GPUSPY_OUTPUT means the directory in which the program was started, wherever it goes later.
[[gnu::constructor]] void loaded() noexcept {
    config();
}

[[gnu::destructor]] void unloaded() noexcept {
    say_late_calls();
}

}  // namespace
}  // namespace gpuspy::hook

// The only constructor of the library.
#include "interpose/lifecycle/config.hpp"

namespace gpuspy::hook {
namespace {

// A relative GPUSPY_OUTPUT means the directory in which the program was started, wherever it goes later.
[[gnu::constructor]] void loaded() noexcept {
    config();
}

}  // namespace
}  // namespace gpuspy::hook

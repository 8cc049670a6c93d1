// Memory of our own: the host's malloc may be its own, be instrumented, or not be ready.
#pragma once

#include <cstddef>

namespace gpuspy::hook {

/// Zeroed memory that is never given back; nullptr when there is none. Any thread; page-sized requests are best.
void* map_memory(std::size_t bytes) noexcept;

}  // namespace gpuspy::hook

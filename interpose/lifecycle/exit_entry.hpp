// The ways out that run no exit handlers.
#pragma once

namespace gpuspy::hook {

/// Looks up what stands behind our _exit and _Exit. As the library is loaded.
void find_exits() noexcept;

}  // namespace gpuspy::hook

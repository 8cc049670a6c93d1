#pragma once

namespace gpuspy::hook {

/// Version of gpuspy; the same as in the top CMakeLists.txt.
inline constexpr char kVersion[] = GPUSPY_VERSION;

}  // namespace gpuspy::hook

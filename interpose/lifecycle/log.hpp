// One line on stderr, by write(2): no stdio of the host, no allocation.
#pragma once

namespace gpuspy::hook {

/// Writes "gpuspy: <message>\n". printf formats; longer than 1,000 bytes is cut. Leaves errno as it was.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

}  // namespace gpuspy::hook

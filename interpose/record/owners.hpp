// Which captured or added call made each graph node: node handle -> launch id.
#pragma once

#include <cstdint>

namespace gpuspy::hook {

/// Remembers, replacing what was known: handles come back. When the table is full the node has no known owner.
void set_node_owner(std::uint64_t node, std::uint64_t launch_id) noexcept;

/// 0: not known.
std::uint64_t node_owner(std::uint64_t node) noexcept;

}  // namespace gpuspy::hook

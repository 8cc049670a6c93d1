// Executable graphs over time: a handle is given out again, and an update replaces what a graph holds.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/model/mixed_hash.hpp"
#include "analysis/reader/records.hpp"

namespace gpuspy::analysis {

inline constexpr std::uint32_t kKernelNodeType = 0;  // CU_GRAPH_NODE_TYPE_KERNEL, cuda.h

/// What an executable graph held from `ticks` on.
struct GraphVersion {
    std::uint64_t ticks = 0;
    bool is_told =
        false;  ///< Its GraphExecRecord came: the nodes come before it, as the walk that counts them lists them.
    std::uint64_t kernel_nodes = 0;
    std::uint64_t flags = 0;              ///< abi::GraphFlags
    std::vector<abi::GraphNode> kernels;  ///< Its kernel nodes, by index. Not all of them if kGraphNodesLost.

    [[nodiscard]] bool conditional() const { return (flags & abi::kGraphConditional) != 0; }
    /// Position in `kernels` of the node with this index, or -1.
    [[nodiscard]] int position_of(std::uint64_t node_index) const;
};

class GraphIndex {
public:
    void add(const GraphExecRecord& record);
    /// Nodes of the version of `exec` with these ticks.
    void add_nodes(std::uint64_t exec, std::uint64_t ticks, std::span<const abi::GraphNode> nodes);
    void finish();

    /// What `exec` held at `ticks`; nullptr if it was made before the recording began.
    [[nodiscard]] const GraphVersion* find(std::uint64_t exec, std::uint64_t ticks) const;

private:
    GraphVersion& version_at(std::uint64_t exec, std::uint64_t ticks);

    std::unordered_map<std::uint64_t, std::deque<GraphVersion>, MixedHash> versions_;
};

}  // namespace gpuspy::analysis

#include "analysis/model/graph_index.hpp"

#include <algorithm>

namespace gpuspy::analysis {

int GraphVersion::position_of(std::uint64_t node_index) const {
    const auto found =
        std::lower_bound(kernels.begin(), kernels.end(), node_index,
                         [](const abi::GraphNode& node, std::uint64_t index) { return node.index < index; });
    return found != kernels.end() && found->index == node_index ? static_cast<int>(found - kernels.begin()) : -1;
}

void GraphIndex::add(const GraphExecRecord& record) {
    versions_[record.exec].push_back({record.ticks, record.kernel_nodes, record.flags, {}});
}

void GraphIndex::add_nodes(std::uint64_t exec, std::span<const abi::GraphNode> nodes) {
    const auto found = versions_.find(exec);
    if (found == versions_.end()) {
        return;  // The graph's own record was lost: its launches are counted as launches of an unknown graph.
    }
    std::vector<abi::GraphNode>& kernels = found->second.back().kernels;
    for (const abi::GraphNode& node : nodes) {
        if (node.type == kKernelNodeType) {
            kernels.push_back(node);
        }
    }
}

void GraphIndex::finish() {
    for (auto& [exec, versions] : versions_) {
        for (GraphVersion& version : versions) {
            const auto by_index = [](const abi::GraphNode& a, const abi::GraphNode& b) { return a.index < b.index; };
            const auto same_index = [](const abi::GraphNode& a, const abi::GraphNode& b) { return a.index == b.index; };
            std::vector<abi::GraphNode>& kernels = version.kernels;
            std::stable_sort(kernels.begin(), kernels.end(), by_index);
            kernels.erase(std::unique(kernels.begin(), kernels.end(), same_index), kernels.end());
        }
        std::stable_sort(versions.begin(), versions.end(),
                         [](const GraphVersion& a, const GraphVersion& b) { return a.ticks < b.ticks; });
    }
}

const GraphVersion* GraphIndex::find(std::uint64_t exec, std::uint64_t ticks) const {
    const auto found = versions_.find(exec);
    if (found == versions_.end()) {
        return nullptr;
    }
    const std::deque<GraphVersion>& versions = found->second;
    const auto after =
        std::upper_bound(versions.begin(), versions.end(), ticks,
                         [](std::uint64_t value, const GraphVersion& version) { return value < version.ticks; });
    return after == versions.begin() ? nullptr : &*(after - 1);
}

}  // namespace gpuspy::analysis

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
    GraphVersion& version = version_at(record.exec, record.ticks);
    version.is_told = true;
    version.kernel_nodes = record.kernel_nodes;
    version.flags = record.flags;
}

void GraphIndex::add_nodes(std::uint64_t exec, std::uint64_t ticks, std::span<const abi::GraphNode> nodes) {
    std::vector<abi::GraphNode>& kernels = version_at(exec, ticks).kernels;
    for (const abi::GraphNode& node : nodes) {
        if (node.type == kKernelNodeType) {
            kernels.push_back(node);
        }
    }
}

GraphVersion& GraphIndex::version_at(std::uint64_t exec, std::uint64_t ticks) {
    std::deque<GraphVersion>& versions = versions_[exec];
    const auto version = std::find_if(versions.rbegin(), versions.rend(),
                                      [ticks](const GraphVersion& candidate) { return candidate.ticks == ticks; });
    if (version != versions.rend()) {
        return *version;
    }
    versions.emplace_back().ticks = ticks;
    return versions.back();
}

void GraphIndex::finish() {
    for (auto& [exec, versions] : versions_) {
        // The graph's own record was lost: its launches are counted as launches of an unknown graph.
        std::erase_if(versions, [](const GraphVersion& version) { return !version.is_told; });
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

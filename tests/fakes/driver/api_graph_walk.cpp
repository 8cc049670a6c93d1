// Graphs: their nodes, edges and parameters.
#include <algorithm>
#include <cstring>

#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/graph.hpp"
#include "tests/fakes/driver/node_work.hpp"

using sim::driver;
using sim::Lock;
using sim::Work;

namespace {

CUresult with_node(CUgraphNode node, CUgraphNodeType type, auto&& body) {
    const Lock lock(driver().mutex);
    if (!driver().nodes.contains(node) || node->work.type != type) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    body(node->work);
    return CUDA_SUCCESS;
}

template <class Parameters>
void describe_kernel(const Work& work, Parameters& out) {
    std::memset(&out, 0, sizeof out);
    out.func = work.function;
    out.gridDimX = work.grid[0];
    out.gridDimY = work.grid[1];
    out.gridDimZ = work.grid[2];
    out.blockDimX = work.block[0];
    out.blockDimY = work.block[1];
    out.blockDimZ = work.block[2];
    out.sharedMemBytes = work.dynamic_shared_bytes;
}

/// Copies `all` out in the way of cuGraphGetNodes: `out` may be null to ask for the count.
CUresult give(const std::vector<CUgraphNode>& all, CUgraphNode* out, std::size_t* count) {
    if (count == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (out != nullptr) {
        for (std::size_t index = 0; index < *count; ++index) {
            out[index] = index < all.size() ? all[index] : nullptr;
        }
        *count = std::min(*count, all.size());
    } else {
        *count = all.size();
    }
    return CUDA_SUCCESS;
}

CUresult dependencies_of(CUgraphNode node, CUgraphNode* out, std::size_t* count) {
    const Lock lock(driver().mutex);
    return driver().nodes.contains(node) ? give(node->dependencies, out, count) : CUDA_ERROR_INVALID_VALUE;
}

CUresult dependents_of(CUgraphNode node, CUgraphNode* out, std::size_t* count) {
    const Lock lock(driver().mutex);
    if (!driver().nodes.contains(node)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::vector<CUgraphNode> all;
    for (const auto& other : node->graph->nodes) {
        if (std::find(other->dependencies.begin(), other->dependencies.end(), node) != other->dependencies.end()) {
            all.push_back(other.get());
        }
    }
    return give(all, out, count);
}

CUresult edges_of(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
    const Lock lock(driver().mutex);
    if (!driver().graphs.contains(graph) || count == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::size_t edges = 0;
    for (const auto& node : graph->nodes) {
        for (CUgraphNode dependency : node->dependencies) {
            if (from != nullptr && to != nullptr && edges < *count) {
                from[edges] = dependency;
                to[edges] = node.get();
            }
            ++edges;
        }
    }
    *count = from != nullptr ? std::min(*count, edges) : edges;
    return CUDA_SUCCESS;
}
}  // namespace

SIM_API(cuGraphGetNodes, , 10000, (CUgraph graph, CUgraphNode* nodes, std::size_t* count), (graph, nodes, count)) {
    const Lock lock(driver().mutex);
    if (!driver().graphs.contains(graph)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::vector<CUgraphNode> all;
    for (const auto& node : graph->nodes) {
        all.push_back(node.get());
    }
    return give(all, nodes, count);
}

SIM_API(cuGraphGetRootNodes, , 10000, (CUgraph graph, CUgraphNode* nodes, std::size_t* count), (graph, nodes, count)) {
    const Lock lock(driver().mutex);
    if (!driver().graphs.contains(graph)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::vector<CUgraphNode> roots;
    for (const auto& node : graph->nodes) {
        if (node->dependencies.empty()) {
            roots.push_back(node.get());
        }
    }
    return give(roots, nodes, count);
}

SIM_API(cuGraphGetEdges, , 10000, (CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count),
        (graph, from, to, count)) {
    return edges_of(graph, from, to, count);
}
SIM_API(cuGraphGetEdges, _v2, 12030,
        (CUgraph graph, CUgraphNode* from, CUgraphNode* to, [[maybe_unused]] CUgraphEdgeData* edges,
         std::size_t* count),
        (graph, from, to, edges, count)) {
    return edges_of(graph, from, to, count);
}
SIM_API(cuGraphNodeGetDependencies, , 10000, (CUgraphNode node, CUgraphNode* out, std::size_t* count),
        (node, out, count)) {
    return dependencies_of(node, out, count);
}
SIM_API(cuGraphNodeGetDependencies, _v2, 12030,
        (CUgraphNode node, CUgraphNode* out, [[maybe_unused]] CUgraphEdgeData* edges, std::size_t* count),
        (node, out, edges, count)) {
    return dependencies_of(node, out, count);
}
SIM_API(cuGraphNodeGetDependentNodes, , 10000, (CUgraphNode node, CUgraphNode* out, std::size_t* count),
        (node, out, count)) {
    return dependents_of(node, out, count);
}
SIM_API(cuGraphNodeGetDependentNodes, _v2, 12030,
        (CUgraphNode node, CUgraphNode* out, [[maybe_unused]] CUgraphEdgeData* edges, std::size_t* count),
        (node, out, edges, count)) {
    return dependents_of(node, out, count);
}

SIM_API(cuGraphNodeGetType, , 10000, (CUgraphNode node, CUgraphNodeType* type), (node, type)) {
    const Lock lock(driver().mutex);
    if (!driver().nodes.contains(node)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *type = node->work.type;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphChildGraphNodeGetGraph, , 10000, (CUgraphNode node, CUgraph* graph), (node, graph)) {
    return with_node(node, CU_GRAPH_NODE_TYPE_GRAPH, [graph](const Work& work) { *graph = work.child; });
}

SIM_API(cuGraphKernelNodeGetParams, , 10000, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* out), (node, out)) {
    return with_node(node, CU_GRAPH_NODE_TYPE_KERNEL, [out](const Work& work) { describe_kernel(work, *out); });
}
SIM_API(cuGraphKernelNodeGetParams, _v2, 12000, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* out), (node, out)) {
    return with_node(node, CU_GRAPH_NODE_TYPE_KERNEL, [out](const Work& work) { describe_kernel(work, *out); });
}
SIM_API(cuGraphKernelNodeSetParams, , 10000, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* parameters),
        (node, parameters)) {
    return with_node(node, CU_GRAPH_NODE_TYPE_KERNEL, [&](Work& work) { work = sim::kernel_work(*parameters); });
}
SIM_API(cuGraphKernelNodeSetParams, _v2, 12000, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters),
        (node, parameters)) {
    return with_node(node, CU_GRAPH_NODE_TYPE_KERNEL, [&](Work& work) { work = sim::kernel_work_2(*parameters); });
}
SIM_API(cuGraphMemcpyNodeGetParams, , 10000, (CUgraphNode node, CUDA_MEMCPY3D* out), (node, out)) {
    return with_node(node, CU_GRAPH_NODE_TYPE_MEMCPY, [out](const Work& work) { *out = work.copy; });
}
SIM_API(cuGraphMemcpyNodeSetParams, , 10000, (CUgraphNode node, const CUDA_MEMCPY3D* copy), (node, copy)) {
    return with_node(node, CU_GRAPH_NODE_TYPE_MEMCPY, [&](Work& work) { work = sim::strided_copy(*copy); });
}
SIM_API(cuGraphMemsetNodeGetParams, , 10000, (CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* out), (node, out)) {
    return with_node(node, CU_GRAPH_NODE_TYPE_MEMSET, [out](const Work& work) { *out = work.set; });
}
SIM_API(cuGraphMemsetNodeSetParams, , 10000, (CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters),
        (node, parameters)) {
    return with_node(node, CU_GRAPH_NODE_TYPE_MEMSET, [&](Work& work) { work = sim::set_work(*parameters); });
}

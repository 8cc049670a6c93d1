// Graphs: making, walking and changing them.
#include <algorithm>
#include <cstring>

#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/graph.hpp"
#include "tests/fakes/driver/work.hpp"

using sim::driver;
using sim::Lock;
using sim::Work;

namespace {

CUresult add(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count, const Work& work) {
    const Lock lock(driver().mutex);
    if (node == nullptr || !driver().graphs.contains(graph) || (count != 0 && dependencies == nullptr)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (work.type == CU_GRAPH_NODE_TYPE_KERNEL && !driver().functions.contains(work.function)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *node = sim::add_node(*graph, work, {dependencies, dependencies + count});
    return CUDA_SUCCESS;
}

template <class Parameters>
Work kernel_work(const Parameters& parameters) {
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_KERNEL;
    work.function = parameters.func;
    work.grid = {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ};
    work.block = {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
    work.dynamic_shared_bytes = parameters.sharedMemBytes;
    return work;
}

/// Version 2 of the parameters also takes a CUkernel.
Work kernel_work_2(const CUDA_KERNEL_NODE_PARAMS& parameters) {
    Work work = kernel_work(parameters);
    if (work.function == nullptr) {
        work.function = reinterpret_cast<CUfunction>(parameters.kern);
    }
    return work;
}

Work set_work(const CUDA_MEMSET_NODE_PARAMS& parameters) {
    return sim::memory_set(parameters.dst, parameters.value, parameters.elementSize, parameters.width,
                           parameters.height, parameters.pitch);
}

Work host_work(CUhostFn function, void* data) {
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_HOST;
    work.host_function = function;
    work.host_data = data;
    return work;
}

Work plain_work(CUgraphNodeType type) {
    Work work;
    work.type = type;
    return work;
}

Work event_work(CUgraphNodeType type, CUevent event) {
    Work work = plain_work(type);
    work.event = event;
    return work;
}

Work child_work(CUgraph graph) {
    Work work = plain_work(CU_GRAPH_NODE_TYPE_GRAPH);
    work.child = graph;
    return work;
}

/// What a node of cuGraphAddNode does; `known` is false for types that are not simulated.
Work any_work(const CUgraphNodeParams& parameters, bool& known) {
    known = true;
    switch (parameters.type) {
        case CU_GRAPH_NODE_TYPE_KERNEL: {
            Work work = kernel_work(parameters.kernel);
            if (work.function == nullptr) {
                work.function = reinterpret_cast<CUfunction>(parameters.kernel.kern);
            }
            return work;
        }
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return sim::strided_copy(parameters.memcpy.copyParams);
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return sim::memory_set(parameters.memset.dst, parameters.memset.value, parameters.memset.elementSize,
                                   parameters.memset.width, parameters.memset.height, parameters.memset.pitch);
        case CU_GRAPH_NODE_TYPE_HOST:
            return host_work(parameters.host.fn, parameters.host.userData);
        case CU_GRAPH_NODE_TYPE_GRAPH:
            return child_work(parameters.graph.graph);
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            return event_work(parameters.type, parameters.eventRecord.event);
        case CU_GRAPH_NODE_TYPE_EMPTY:
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            return plain_work(parameters.type);
        default:
            known = false;
            return {};
    }
}

CUresult add_any(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                 CUgraphNodeParams* parameters) {
    bool known = false;
    const Work work = any_work(*parameters, known);
    if (!known) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    const CUresult result = add(node, graph, dependencies, count, work);
    if (result == CUDA_SUCCESS && parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        // One body; it runs once a launch.
        static thread_local CUgraph bodies[1];
        bodies[0] = (*node)->work.child;
        parameters->conditional.phGraph_out = bodies;
    }
    return result;
}

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

CUresult add_edges(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
    const Lock lock(driver().mutex);
    if (!driver().graphs.contains(graph)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (std::size_t index = 0; index < count; ++index) {
        to[index]->dependencies.push_back(from[index]);
    }
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API(cuGraphCreate, , 10000, (CUgraph * graph, unsigned flags), (graph, flags)) {
    const Lock lock(driver().mutex);
    if (graph == nullptr || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *graph = sim::make_graph();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphDestroy, , 10000, (CUgraph graph), (graph)) {
    const Lock lock(driver().mutex);
    if (!driver().graphs.contains(graph) || graph->is_child) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    sim::destroy_graph(graph);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphClone, , 10000, (CUgraph * clone, CUgraph graph), (clone, graph)) {
    const Lock lock(driver().mutex);
    if (!driver().graphs.contains(graph)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *clone = sim::clone_graph(*graph);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphNodeFindInClone, , 10000, (CUgraphNode * node, CUgraphNode original, CUgraph clone),
        (node, original, clone)) {
    const Lock lock(driver().mutex);
    if (!driver().graphs.contains(clone)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (const auto& candidate : clone->nodes) {
        if (candidate->original == original) {
            *node = candidate.get();
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

#define SIM_GRAPH_INTO CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, std::size_t count

SIM_API(cuGraphAddKernelNode, , 10000, (SIM_GRAPH_INTO, const CUDA_KERNEL_NODE_PARAMS_v1* parameters),
        (node, graph, dependencies, count, parameters)) {
    return add(node, graph, dependencies, count, kernel_work(*parameters));
}
SIM_API(cuGraphAddKernelNode, _v2, 12000, (SIM_GRAPH_INTO, const CUDA_KERNEL_NODE_PARAMS* parameters),
        (node, graph, dependencies, count, parameters)) {
    return add(node, graph, dependencies, count, kernel_work_2(*parameters));
}
SIM_API(cuGraphAddMemcpyNode, , 10000, (SIM_GRAPH_INTO, const CUDA_MEMCPY3D* copy, [[maybe_unused]] CUcontext context),
        (node, graph, dependencies, count, copy, context)) {
    return add(node, graph, dependencies, count, sim::strided_copy(*copy));
}
SIM_API(cuGraphAddMemsetNode, , 10000,
        (SIM_GRAPH_INTO, const CUDA_MEMSET_NODE_PARAMS* parameters, [[maybe_unused]] CUcontext context),
        (node, graph, dependencies, count, parameters, context)) {
    return add(node, graph, dependencies, count, set_work(*parameters));
}
SIM_API(cuGraphAddHostNode, , 10000, (SIM_GRAPH_INTO, const CUDA_HOST_NODE_PARAMS* parameters),
        (node, graph, dependencies, count, parameters)) {
    return add(node, graph, dependencies, count, host_work(parameters->fn, parameters->userData));
}
SIM_API(cuGraphAddChildGraphNode, , 10000, (SIM_GRAPH_INTO, CUgraph child), (node, graph, dependencies, count, child)) {
    return child == nullptr ? CUDA_ERROR_INVALID_VALUE : add(node, graph, dependencies, count, child_work(child));
}
SIM_API(cuGraphAddEmptyNode, , 10000, (SIM_GRAPH_INTO), (node, graph, dependencies, count)) {
    return add(node, graph, dependencies, count, plain_work(CU_GRAPH_NODE_TYPE_EMPTY));
}
SIM_API(cuGraphAddEventRecordNode, , 11010, (SIM_GRAPH_INTO, CUevent event),
        (node, graph, dependencies, count, event)) {
    return add(node, graph, dependencies, count, event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}
SIM_API(cuGraphAddEventWaitNode, , 11010, (SIM_GRAPH_INTO, CUevent event), (node, graph, dependencies, count, event)) {
    return add(node, graph, dependencies, count, event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}
SIM_API(cuGraphAddNode, , 12020, (SIM_GRAPH_INTO, CUgraphNodeParams* parameters),
        (node, graph, dependencies, count, parameters)) {
    return add_any(node, graph, dependencies, count, parameters);
}
SIM_API(cuGraphAddNode, _v2, 12030,
        (CUgraphNode * node, CUgraph graph, const CUgraphNode* dependencies,
         [[maybe_unused]] const CUgraphEdgeData* edges, std::size_t count, CUgraphNodeParams* parameters),
        (node, graph, dependencies, edges, count, parameters)) {
    return add_any(node, graph, dependencies, count, parameters);
}

SIM_API(cuGraphConditionalHandleCreate, , 12030,
        (CUgraphConditionalHandle * handle, CUgraph graph, [[maybe_unused]] CUcontext context,
         [[maybe_unused]] unsigned value, [[maybe_unused]] unsigned flags),
        (handle, graph, context, value, flags)) {
    const Lock lock(driver().mutex);
    if (!driver().graphs.contains(graph)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *handle = graph->id;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphAddDependencies, , 10000,
        (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count), (graph, from, to, count)) {
    return add_edges(graph, from, to, count);
}
SIM_API(cuGraphAddDependencies, _v2, 12030,
        (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, [[maybe_unused]] const CUgraphEdgeData* edges,
         std::size_t count),
        (graph, from, to, edges, count)) {
    return add_edges(graph, from, to, count);
}

SIM_API(cuGraphDestroyNode, , 10000, (CUgraphNode node), (node)) {
    const Lock lock(driver().mutex);
    if (driver().nodes.erase(node) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    auto& nodes = node->graph->nodes;
    for (const auto& other : nodes) {
        std::erase(other->dependencies, node);
    }
    if (node->work.child != nullptr) {
        sim::destroy_graph(node->work.child);
        node->work.child = nullptr;
    }
    std::erase_if(nodes, [node](const auto& other) { return other.get() == node; });
    return CUDA_SUCCESS;
}

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
    return with_node(node, CU_GRAPH_NODE_TYPE_KERNEL, [&](Work& work) { work = kernel_work(*parameters); });
}
SIM_API(cuGraphKernelNodeSetParams, _v2, 12000, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters),
        (node, parameters)) {
    return with_node(node, CU_GRAPH_NODE_TYPE_KERNEL, [&](Work& work) { work = kernel_work_2(*parameters); });
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
    return with_node(node, CU_GRAPH_NODE_TYPE_MEMSET, [&](Work& work) { work = set_work(*parameters); });
}

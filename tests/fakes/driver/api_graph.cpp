// Graphs: making and changing them.
#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/graph.hpp"
#include "tests/fakes/driver/node_work.hpp"

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
CUresult add_any(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                 CUgraphNodeParams* parameters) {
    bool known = false;
    const Work work = sim::any_work(*parameters, known);
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
    return add(node, graph, dependencies, count, sim::kernel_work(*parameters));
}
SIM_API(cuGraphAddKernelNode, _v2, 12000, (SIM_GRAPH_INTO, const CUDA_KERNEL_NODE_PARAMS* parameters),
        (node, graph, dependencies, count, parameters)) {
    return add(node, graph, dependencies, count, sim::kernel_work_2(*parameters));
}
SIM_API(cuGraphAddMemcpyNode, , 10000, (SIM_GRAPH_INTO, const CUDA_MEMCPY3D* copy, [[maybe_unused]] CUcontext context),
        (node, graph, dependencies, count, copy, context)) {
    return add(node, graph, dependencies, count, sim::strided_copy(*copy));
}
SIM_API(cuGraphAddMemsetNode, , 10000,
        (SIM_GRAPH_INTO, const CUDA_MEMSET_NODE_PARAMS* parameters, [[maybe_unused]] CUcontext context),
        (node, graph, dependencies, count, parameters, context)) {
    return add(node, graph, dependencies, count, sim::set_work(*parameters));
}
SIM_API(cuGraphAddHostNode, , 10000, (SIM_GRAPH_INTO, const CUDA_HOST_NODE_PARAMS* parameters),
        (node, graph, dependencies, count, parameters)) {
    return add(node, graph, dependencies, count, sim::host_work(parameters->fn, parameters->userData));
}
SIM_API(cuGraphAddChildGraphNode, , 10000, (SIM_GRAPH_INTO, CUgraph child), (node, graph, dependencies, count, child)) {
    return child == nullptr ? CUDA_ERROR_INVALID_VALUE : add(node, graph, dependencies, count, sim::child_work(child));
}
SIM_API(cuGraphAddEmptyNode, , 10000, (SIM_GRAPH_INTO), (node, graph, dependencies, count)) {
    return add(node, graph, dependencies, count, sim::plain_work(CU_GRAPH_NODE_TYPE_EMPTY));
}
SIM_API(cuGraphAddEventRecordNode, , 11010, (SIM_GRAPH_INTO, CUevent event),
        (node, graph, dependencies, count, event)) {
    return add(node, graph, dependencies, count, sim::event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}
SIM_API(cuGraphAddEventWaitNode, , 11010, (SIM_GRAPH_INTO, CUevent event), (node, graph, dependencies, count, event)) {
    return add(node, graph, dependencies, count, sim::event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
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

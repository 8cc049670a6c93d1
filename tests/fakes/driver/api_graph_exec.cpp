// Executable graphs.
#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/graph.hpp"
#include "tests/fakes/driver/work.hpp"

using sim::driver;
using sim::Lock;

namespace {

CUresult instantiate(CUgraphExec* exec, CUgraph graph, std::uint64_t flags) {
    const Lock lock(driver().mutex);
    if (exec == nullptr || !driver().graphs.contains(graph)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *exec = sim::make_exec(*graph).release();
    (*exec)->flags = flags;
    driver().execs.insert(*exec);
    return CUDA_SUCCESS;
}

CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResult& outcome) {
    const Lock lock(driver().mutex);
    outcome = CU_GRAPH_EXEC_UPDATE_ERROR;
    if (!driver().execs.contains(exec) || !driver().graphs.contains(graph)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const bool same = sim::update_exec(*exec, *graph);
    outcome = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return same ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult with_node(CUgraphExec exec, CUgraphNode source, auto&& body) {
    const Lock lock(driver().mutex);
    if (!driver().execs.contains(exec)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    SimExecNode* node = sim::find_exec_node(*exec, source);
    return node == nullptr ? CUDA_ERROR_INVALID_VALUE : body(*node);
}

template <class Parameters>
CUresult set_kernel(SimExecNode& node, const Parameters& parameters) {
    if (node.work.type != CU_GRAPH_NODE_TYPE_KERNEL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    node.work.function = parameters.func != nullptr ? parameters.func : node.work.function;
    node.work.grid = {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ};
    node.work.block = {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API(cuGraphInstantiate, , 10000,
        (CUgraphExec * exec, CUgraph graph, [[maybe_unused]] CUgraphNode* error_node, [[maybe_unused]] char* log,
         [[maybe_unused]] std::size_t log_bytes),
        (exec, graph, error_node, log, log_bytes)) {
    return instantiate(exec, graph, 0);
}
// From 11.0 on _v2; CUDA 12 made cuGraphInstantiateWithFlags what cuda.h calls cuGraphInstantiate.
SIM_API(cuGraphInstantiate, _v2, 11000,
        (CUgraphExec * exec, CUgraph graph, [[maybe_unused]] CUgraphNode* error_node, [[maybe_unused]] char* log,
         [[maybe_unused]] std::size_t log_bytes),
        (exec, graph, error_node, log, log_bytes)) {
    return instantiate(exec, graph, 0);
}
SIM_API(cuGraphInstantiateWithFlags, , 11040, (CUgraphExec * exec, CUgraph graph, unsigned long long flags),
        (exec, graph, flags)) {
    return instantiate(exec, graph, flags);
}
SIM_API_STREAM(cuGraphInstantiateWithParams, , 12000, _ptsz, 12000,
               (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* parameters),
               (exec, graph, parameters)) {
    const CUresult result = instantiate(exec, graph, parameters->flags);
    parameters->hErrNode_out = nullptr;
    parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

SIM_API(cuGraphExecGetFlags, , 12000, (CUgraphExec exec, cuuint64_t* flags), (exec, flags)) {
    const Lock lock(driver().mutex);
    if (!driver().execs.contains(exec)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphExecDestroy, , 10000, (CUgraphExec exec), (exec)) {
    const Lock lock(driver().mutex);
    if (driver().execs.erase(exec) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    delete exec;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphExecUpdate, , 10020,
        (CUgraphExec exec, CUgraph graph, CUgraphNode* error_node, CUgraphExecUpdateResult* outcome),
        (exec, graph, error_node, outcome)) {
    *error_node = nullptr;
    return update(exec, graph, *outcome);
}
SIM_API(cuGraphExecUpdate, _v2, 12000, (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* outcome),
        (exec, graph, outcome)) {
    outcome->errorNode = nullptr;
    outcome->errorFromNode = nullptr;
    return update(exec, graph, outcome->result);
}

SIM_API(cuGraphExecKernelNodeSetParams, , 10010,
        (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* parameters), (exec, node, parameters)) {
    return with_node(exec, node, [&](SimExecNode& found) { return set_kernel(found, *parameters); });
}
SIM_API(cuGraphExecKernelNodeSetParams, _v2, 12000,
        (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters), (exec, node, parameters)) {
    return with_node(exec, node, [&](SimExecNode& found) { return set_kernel(found, *parameters); });
}

SIM_API(cuGraphNodeSetEnabled, , 11060, (CUgraphExec exec, CUgraphNode node, unsigned enabled), (exec, node, enabled)) {
    return with_node(exec, node, [enabled](SimExecNode& found) {
        const CUgraphNodeType type = found.work.type;
        if (type != CU_GRAPH_NODE_TYPE_KERNEL && type != CU_GRAPH_NODE_TYPE_MEMSET &&
            type != CU_GRAPH_NODE_TYPE_MEMCPY) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        found.enabled = enabled != 0;
        return CUDA_SUCCESS;
    });
}
SIM_API(cuGraphNodeGetEnabled, , 11060, (CUgraphExec exec, CUgraphNode node, unsigned* enabled),
        (exec, node, enabled)) {
    return with_node(exec, node, [enabled](SimExecNode& found) {
        *enabled = found.enabled ? 1 : 0;
        return CUDA_SUCCESS;
    });
}

SIM_API_STREAM(cuGraphUpload, , 11010, _ptsz, 11010, (CUgraphExec exec, CUstream stream), (exec, stream)) {
    const Lock lock(driver().mutex);
    return !driver().execs.contains(exec)        ? CUDA_ERROR_INVALID_VALUE
           : sim::find_stream(stream) == nullptr ? CUDA_ERROR_INVALID_HANDLE
                                                 : CUDA_SUCCESS;
}

SIM_API_STREAM(cuGraphLaunch, , 10000, _ptsz, 10000, (CUgraphExec exec, CUstream stream), (exec, stream)) {
    return sim::launch_graph(exec, stream);
}

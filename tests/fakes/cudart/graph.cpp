// Graphs.
#include <cstring>

#include "tests/fakes/cudart/call.hpp"
#include "tests/fakes/cudart/convert.hpp"
#include "tests/fakes/cudart/kernels.hpp"

using sim::runtime::Table;
using sim::runtime::to_runtime;

namespace {

cudaError_t to_driver(const Table& cu, const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS& out) {
    std::memset(&out, 0, sizeof out);
    out.gridDimX = from.gridDim.x;
    out.gridDimY = from.gridDim.y;
    out.gridDimZ = from.gridDim.z;
    out.blockDimX = from.blockDim.x;
    out.blockDimY = from.blockDim.y;
    out.blockDimZ = from.blockDim.z;
    out.sharedMemBytes = from.sharedMemBytes;
    out.kernelParams = from.kernelParams;
    out.extra = from.extra;
    return sim::runtime::find_function(cu, from.func, out.func);
}

}  // namespace

SIM_RT(cudaGraphCreate, kContext, (cudaGraph_t * graph, unsigned flags), (graph, flags)) {
    return to_runtime(cu.cuGraphCreate(graph, flags));
}
SIM_RT(cudaGraphDestroy, kContext, (cudaGraph_t graph), (graph)) {
    return to_runtime(cu.cuGraphDestroy(graph));
}
SIM_RT(cudaGraphClone, kContext, (cudaGraph_t * clone, cudaGraph_t graph), (clone, graph)) {
    return to_runtime(cu.cuGraphClone(clone, graph));
}

#define SIM_GRAPH_INTO cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, std::size_t count

SIM_RT(cudaGraphAddKernelNode, kContext, (SIM_GRAPH_INTO, const cudaKernelNodeParams* parameters),
       (node, graph, dependencies, count, parameters)) {
    CUDA_KERNEL_NODE_PARAMS wanted;
    const cudaError_t result = to_driver(cu, *parameters, wanted);
    return result != cudaSuccess ? result
                                 : to_runtime(cu.cuGraphAddKernelNode(node, graph, dependencies, count, &wanted));
}
SIM_RT(cudaGraphAddMemcpyNode, kContext, (SIM_GRAPH_INTO, const cudaMemcpy3DParms* parameters),
       (node, graph, dependencies, count, parameters)) {
    const CUDA_MEMCPY3D wanted = sim::runtime::to_driver(*parameters);
    CUcontext context = nullptr;
    cu.cuCtxGetCurrent(&context);
    return to_runtime(cu.cuGraphAddMemcpyNode(node, graph, dependencies, count, &wanted, context));
}
SIM_RT(cudaGraphAddMemcpyNode1D, kContext,
       (SIM_GRAPH_INTO, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind),
       (node, graph, dependencies, count, to, from, bytes, kind)) {
    if (kind > cudaMemcpyDefault) {
        return cudaErrorInvalidMemcpyDirection;
    }
    cudaMemcpy3DParms parameters{};
    parameters.srcPtr.ptr = const_cast<void*>(from);
    parameters.dstPtr.ptr = to;
    parameters.extent = {bytes, 1, 1};
    const CUDA_MEMCPY3D wanted = sim::runtime::to_driver(parameters);
    CUcontext context = nullptr;
    cu.cuCtxGetCurrent(&context);
    return to_runtime(cu.cuGraphAddMemcpyNode(node, graph, dependencies, count, &wanted, context));
}
SIM_RT(cudaGraphAddMemsetNode, kContext, (SIM_GRAPH_INTO, const cudaMemsetParams* parameters),
       (node, graph, dependencies, count, parameters)) {
    const CUDA_MEMSET_NODE_PARAMS wanted = sim::runtime::to_driver(*parameters);
    CUcontext context = nullptr;
    cu.cuCtxGetCurrent(&context);
    return to_runtime(cu.cuGraphAddMemsetNode(node, graph, dependencies, count, &wanted, context));
}
SIM_RT(cudaGraphAddHostNode, kContext, (SIM_GRAPH_INTO, const cudaHostNodeParams* parameters),
       (node, graph, dependencies, count, parameters)) {
    CUDA_HOST_NODE_PARAMS wanted{};
    wanted.fn = parameters->fn;
    wanted.userData = parameters->userData;
    return to_runtime(cu.cuGraphAddHostNode(node, graph, dependencies, count, &wanted));
}
SIM_RT(cudaGraphAddChildGraphNode, kContext, (SIM_GRAPH_INTO, cudaGraph_t child),
       (node, graph, dependencies, count, child)) {
    return to_runtime(cu.cuGraphAddChildGraphNode(node, graph, dependencies, count, child));
}
SIM_RT(cudaGraphAddEmptyNode, kContext, (SIM_GRAPH_INTO), (node, graph, dependencies, count)) {
    return to_runtime(cu.cuGraphAddEmptyNode(node, graph, dependencies, count));
}

SIM_RT(cudaGraphGetNodes, kContext, (cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count),
       (graph, nodes, count)) {
    return to_runtime(cu.cuGraphGetNodes(graph, nodes, count));
}
SIM_RT(cudaGraphNodeGetType, kContext, (cudaGraphNode_t node, cudaGraphNodeType* type), (node, type)) {
    return to_runtime(cu.cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType*>(type)));
}
SIM_RT(cudaGraphChildGraphNodeGetGraph, kContext, (cudaGraphNode_t node, cudaGraph_t* graph), (node, graph)) {
    return to_runtime(cu.cuGraphChildGraphNodeGetGraph(node, graph));
}
SIM_RT(cudaGraphKernelNodeGetParams, kContext, (cudaGraphNode_t node, cudaKernelNodeParams* out), (node, out)) {
    CUDA_KERNEL_NODE_PARAMS found;
    const CUresult result = cu.cuGraphKernelNodeGetParams(node, &found);
    if (result == CUDA_SUCCESS) {
        *out = {};
        out->func = const_cast<void*>(sim::runtime::host_function_of(found.func));
        out->gridDim = {found.gridDimX, found.gridDimY, found.gridDimZ};
        out->blockDim = {found.blockDimX, found.blockDimY, found.blockDimZ};
        out->sharedMemBytes = found.sharedMemBytes;
    }
    return to_runtime(result);
}
SIM_RT(cudaGraphKernelNodeSetParams, kContext, (cudaGraphNode_t node, const cudaKernelNodeParams* parameters),
       (node, parameters)) {
    CUDA_KERNEL_NODE_PARAMS wanted;
    const cudaError_t result = to_driver(cu, *parameters, wanted);
    return result != cudaSuccess ? result : to_runtime(cu.cuGraphKernelNodeSetParams(node, &wanted));
}
SIM_RT(cudaGraphExecKernelNodeSetParams, kContext,
       (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams* parameters), (exec, node, parameters)) {
    CUDA_KERNEL_NODE_PARAMS wanted;
    const cudaError_t result = to_driver(cu, *parameters, wanted);
    return result != cudaSuccess ? result : to_runtime(cu.cuGraphExecKernelNodeSetParams(exec, node, &wanted));
}

SIM_RT(cudaGraphInstantiate, kContext, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
       (exec, graph, flags)) {
    return to_runtime(cu.cuGraphInstantiateWithFlags(exec, graph, flags));
}
SIM_RT(cudaGraphInstantiateWithFlags, kContext, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
       (exec, graph, flags)) {
    return to_runtime(cu.cuGraphInstantiateWithFlags(exec, graph, flags));
}
SIM_RT_STREAM(cudaGraphInstantiateWithParams, _ptsz,
              (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams* parameters),
              (exec, graph, parameters)) {
    CUDA_GRAPH_INSTANTIATE_PARAMS wanted{};
    wanted.flags = parameters->flags;
    wanted.hUploadStream = parameters->uploadStream;
    const CUresult result = cu.cuGraphInstantiateWithParams(exec, graph, &wanted);
    parameters->errNode_out = wanted.hErrNode_out;
    parameters->result_out = static_cast<cudaGraphInstantiateResult>(wanted.result_out);
    return to_runtime(result);
}
SIM_RT(cudaGraphExecUpdate, kContext, (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* outcome),
       (exec, graph, outcome)) {
    CUgraphExecUpdateResultInfo found{};
    const CUresult result = cu.cuGraphExecUpdate(exec, graph, &found);
    outcome->result = static_cast<cudaGraphExecUpdateResult>(found.result);
    outcome->errorNode = found.errorNode;
    outcome->errorFromNode = found.errorFromNode;
    return to_runtime(result);
}
SIM_RT(cudaGraphExecDestroy, kContext, (cudaGraphExec_t exec), (exec)) {
    return to_runtime(cu.cuGraphExecDestroy(exec));
}
SIM_RT(cudaGraphNodeSetEnabled, kContext, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled),
       (exec, node, enabled)) {
    return to_runtime(cu.cuGraphNodeSetEnabled(exec, node, enabled));
}
SIM_RT(cudaGraphNodeGetEnabled, kContext, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled),
       (exec, node, enabled)) {
    return to_runtime(cu.cuGraphNodeGetEnabled(exec, node, enabled));
}
SIM_RT_STREAM(cudaGraphUpload, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream)) {
    return to_runtime(cu.cuGraphUpload(exec, stream));
}
SIM_RT_STREAM(cudaGraphLaunch, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream)) {
    return to_runtime(cu.cuGraphLaunch(exec, stream));
}

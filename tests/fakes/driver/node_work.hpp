// Parameters of graph nodes as the work that they describe.
#pragma once

#include "tests/fakes/driver/work.hpp"

namespace sim {

template <class Parameters>
inline Work kernel_work(const Parameters& parameters) {
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_KERNEL;
    work.function = parameters.func;
    work.grid = {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ};
    work.block = {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
    work.dynamic_shared_bytes = parameters.sharedMemBytes;
    return work;
}

/// Version 2 of the parameters also takes a CUkernel.
inline Work kernel_work_2(const CUDA_KERNEL_NODE_PARAMS& parameters) {
    Work work = kernel_work(parameters);
    if (work.function == nullptr) {
        work.function = reinterpret_cast<CUfunction>(parameters.kern);
    }
    return work;
}

inline Work set_work(const CUDA_MEMSET_NODE_PARAMS& parameters) {
    return memory_set(parameters.dst, parameters.value, parameters.elementSize, parameters.width, parameters.height,
                      parameters.pitch);
}

inline Work host_work(CUhostFn function, void* data) {
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_HOST;
    work.host_function = function;
    work.host_data = data;
    return work;
}

inline Work plain_work(CUgraphNodeType type) {
    Work work;
    work.type = type;
    return work;
}

inline Work event_work(CUgraphNodeType type, CUevent event) {
    Work work = plain_work(type);
    work.event = event;
    return work;
}

inline Work child_work(CUgraph graph) {
    Work work = plain_work(CU_GRAPH_NODE_TYPE_GRAPH);
    work.child = graph;
    return work;
}

/// What a node of cuGraphAddNode does; `known` is false for types that are not simulated.
inline Work any_work(const CUgraphNodeParams& parameters, bool& known) {
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
            return strided_copy(parameters.memcpy.copyParams);
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return memory_set(parameters.memset.dst, parameters.memset.value, parameters.memset.elementSize,
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

}  // namespace sim

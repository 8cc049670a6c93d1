// What the fake libcuda tells the fake libcupti: API calls on their thread, and activities with their times.
#pragma once

#include <cstdint>

#include <cuda.h>

namespace sim {

/// A device activity, told when it is enqueued: its times are known then.
struct Activity {
    CUgraphNodeType type;  ///< CU_GRAPH_NODE_TYPE_KERNEL, _MEMCPY or _MEMSET.
    std::uint64_t start_ns;
    std::uint64_t end_ns;
    std::uint32_t correlation;
    std::uint32_t device;
    std::uint32_t context;
    std::uint32_t stream;
    std::uint32_t graph_exec;  ///< 0: not from a graph.
    std::uint64_t graph_node;  ///< (graph_exec << 32) | index of the node.
    const char* name;          ///< Kernels. Lives as long as the process.
    std::uint32_t grid[3];
    std::uint32_t block[3];
    std::uint32_t dynamic_shared_bytes;
    bool cooperative;
    bool asynchronous;
    std::uint64_t bytes;
    std::uint32_t value;       ///< Sets.
    std::uint8_t copy_kind;    ///< CUpti_ActivityMemcpyKind.
    std::uint8_t source_kind;  ///< CUpti_ActivityMemoryKind.
    std::uint8_t destination_kind;
    std::uint32_t peer_device;  ///< Copies between devices: the destination.
    std::uint32_t peer_context;
};

/// An API call, told at its begin and at its end.
struct ApiCall {
    std::uint32_t cbid;  ///< CUpti_driver_api_trace_cbid.
    const char* name;
    const char* kernel_name;  ///< Launches of one kernel; else nullptr.
    const void* params;
    CUcontext context;
    std::uint32_t context_id;
    std::uint32_t correlation;
    std::uint64_t* correlation_data;
    CUresult* result;
    bool enter;
};

struct Tracer {
    bool (*wants_call)(std::uint32_t cbid);
    void (*call)(const ApiCall& call);
    bool (*wants_activity)(CUgraphNodeType type);
    void (*activity)(const Activity& activity);
};

}  // namespace sim

extern "C" {
/// Installs the tracer; nullptr removes it. `tracer` must live for ever.
bool sim_set_tracer(const sim::Tracer* tracer);
/// True once the process made a context.
bool sim_has_context();
std::uint32_t sim_graph_id(CUgraph graph);
std::uint32_t sim_graph_exec_id(CUgraphExec exec);
std::uint64_t sim_graph_node_id(CUgraphNode node);
std::uint32_t sim_context_id(CUcontext context);
std::uint32_t sim_stream_id(CUstream stream);
}

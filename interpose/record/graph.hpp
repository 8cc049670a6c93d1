// Graphs: who made each node, and what an executable graph holds.
#pragma once

#include <atomic>

#include "interpose/record/call.hpp"
#include "interpose/table/cuda_headers.hpp"

namespace gpuspy::hook {

/// The call made this node: gives the call a launch id and remembers it as the node's owner.
void own_node(const CallFrame& frame, CallParts& parts, CUgraphNode node) noexcept;

/// The nodes of `copy` are copies of those of `original`, in order: they have the same owners. Child graphs too.
void copy_owners(CUgraph original, CUgraph copy) noexcept;

/// `node` was added and holds a copy of `child`.
void child_graph_added(CUgraphNode node, CUgraph child) noexcept;

/// Writes what `exec` holds (GraphExecEvent and its GraphNodesEvents) to the thread's ring.
void graph_instantiated(const CallFrame& frame, CUgraphExec exec, CUgraph graph, bool updated) noexcept;

/// A node of `exec` was enabled or disabled. What the graph holds is written at its next launch, once for all switches.
void exec_switched(const CallFrame& frame, CUgraphExec exec) noexcept;

/// A kernel node of `exec` was given these parameters there; in the graph that it came from it is as it was. Written like a switch.
void exec_node_changed(const CallFrame& frame, CUgraphExec exec, CUgraphNode node,
                       const CUDA_KERNEL_NODE_PARAMS& params) noexcept;

/// The host destroys a graph: what was made from it and switched since is written while it can still be walked.
void graph_goes(CUgraph graph) noexcept;
void exec_goes(CUgraphExec exec) noexcept;

extern std::atomic<std::uint32_t> switched_execs;

/// One relaxed load: a launch of a graph whose nodes nobody switches pays nothing.
inline bool is_any_exec_switched() noexcept {
    return switched_execs.load(std::memory_order_relaxed) > 0;
}

/// At a launch of `exec`: writes what it holds, as of the launch's begin, if nodes were switched since the last time.
void write_switched_exec(const CallFrame& frame, CUgraphExec exec) noexcept;

}  // namespace gpuspy::hook

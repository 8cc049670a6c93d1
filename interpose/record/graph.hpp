// Graphs: who made each node, and what an executable graph holds.
#pragma once

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

}  // namespace gpuspy::hook

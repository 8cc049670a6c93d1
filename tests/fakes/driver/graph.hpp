// Graphs: nodes, clones, executable graphs and their launch. All under the lock but launch_graph.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/fakes/driver/state.hpp"

namespace sim {

CUgraph make_graph();
CUgraphNode add_node(CUgraph_st& graph, const Work& work, const std::vector<CUgraphNode>& dependencies);
CUgraph clone_graph(const CUgraph_st& graph);
void destroy_graph(CUgraph graph);

std::unique_ptr<CUgraphExec_st> make_exec(const CUgraph_st& graph);

/// The executable graph takes the parameters of `graph`. False, and `exec` unchanged, if the topology differs.
bool update_exec(CUgraphExec_st& exec, const CUgraph_st& graph);

/// The node of the executable graph that `source` became; nullptr if none did.
SimExecNode* find_exec_node(CUgraphExec_st& exec, CUgraphNode source);

/// The place of `node` in its graph.
std::uint32_t node_index(const CUgraphNode_st& node);

CUresult launch_graph(CUgraphExec exec, CUstream handle);

}  // namespace sim

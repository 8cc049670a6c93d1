#include "tests/fakes/driver/graph.hpp"

#include <algorithm>
#include <map>

#include "tests/fakes/driver/work.hpp"

namespace sim {
namespace {

bool holds_graph(const Work& work) {
    return work.type == CU_GRAPH_NODE_TYPE_GRAPH || work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

void forget(CUgraph_st& graph) {
    driver().graphs.erase(&graph);
    for (const auto& node : graph.nodes) {
        driver().nodes.erase(node.get());
        if (node->work.child != nullptr) {
            forget(*node->work.child);
        }
    }
}

/// Appends the graph's nodes, then those of its child graphs. `before` is what its roots wait for. Says which of the
/// appended nodes nothing in the graph waits for.
std::vector<std::uint32_t> flatten(const CUgraph_st& graph, const std::vector<std::uint32_t>& before,
                                   std::vector<SimExecNode>& flat) {
    std::map<CUgraphNode, std::uint32_t> places;
    for (const auto& node : graph.nodes) {
        places[node.get()] = static_cast<std::uint32_t>(flat.size());
        flat.push_back({node->work, node.get(), {}, true, !holds_graph(node->work)});
    }
    std::vector<bool> waited_for(graph.nodes.size(), false);
    const std::uint32_t first = graph.nodes.empty() ? 0 : places.at(graph.nodes.front().get());
    for (const auto& node : graph.nodes) {
        SimExecNode& placed = flat[places.at(node.get())];
        placed.dependencies = node->dependencies.empty() ? before : std::vector<std::uint32_t>{};
        for (CUgraphNode dependency : node->dependencies) {
            placed.dependencies.push_back(places.at(dependency));
            waited_for[places.at(dependency) - first] = true;
        }
    }
    for (const auto& node : graph.nodes) {
        if (node->work.child != nullptr) {
            const std::uint32_t place = places.at(node.get());
            const auto inner_before = flat[place].dependencies;
            const auto inner_last = flatten(*node->work.child, inner_before, flat);
            // The container ends when its graph has ended.
            flat[place].dependencies.insert(flat[place].dependencies.end(), inner_last.begin(), inner_last.end());
        }
    }
    std::vector<std::uint32_t> last;
    for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
        if (!waited_for[index]) {
            last.push_back(first + static_cast<std::uint32_t>(index));
        }
    }
    return last;
}

/// Ends of all nodes; a node starts when the last of its dependencies ends.
class Replay {
public:
    Replay(const CUgraphExec_st& exec, const CUstream_st& stream, std::uint64_t start_ns, Aftermath& after)
        : exec_(exec), stream_(stream), start_ns_(start_ns), after_(after), ends_(exec.nodes.size(), 0) {}

    std::uint64_t run() {
        std::uint64_t last = start_ns_;
        for (std::uint32_t index = 0; index < ends_.size(); ++index) {
            last = std::max(last, end_of(index));
        }
        return last;
    }

private:
    std::uint64_t end_of(std::uint32_t index) {
        if (ends_[index] == 0) {
            const SimExecNode& node = exec_.nodes[index];
            std::uint64_t start = start_ns_;
            for (const std::uint32_t dependency : node.dependencies) {
                start = std::max(start, end_of(dependency));
            }
            const std::uint64_t id = std::uint64_t{exec_.id} << 32 | index;
            ends_[index] = node.enabled && node.runs ? perform(node.work, stream_, start, exec_.id, id, after_) : start;
        }
        return ends_[index];
    }

    const CUgraphExec_st& exec_;
    const CUstream_st& stream_;
    std::uint64_t start_ns_;
    Aftermath& after_;
    std::vector<std::uint64_t> ends_;
};

}  // namespace

CUgraph make_graph() {
    auto* graph = new CUgraph_st{driver().next_graph++, {}, false};
    driver().graphs.insert(graph);
    return graph;
}

CUgraphNode add_node(CUgraph_st& graph, const Work& work, const std::vector<CUgraphNode>& dependencies) {
    graph.nodes.push_back(std::make_unique<CUgraphNode_st>(CUgraphNode_st{&graph, work, dependencies, nullptr}));
    CUgraphNode node = graph.nodes.back().get();
    driver().nodes.insert(node);
    if (holds_graph(work)) {
        node->work.child = work.child != nullptr ? clone_graph(*work.child) : make_graph();
        node->work.child->is_child = true;
    }
    return node;
}

CUgraph clone_graph(const CUgraph_st& graph) {
    CUgraph clone = make_graph();
    std::map<CUgraphNode, CUgraphNode> copies;
    for (const auto& node : graph.nodes) {
        CUgraphNode copy = add_node(*clone, node->work, {});
        copy->original = node.get();
        copies[node.get()] = copy;
    }
    for (const auto& node : graph.nodes) {
        for (CUgraphNode dependency : node->dependencies) {
            copies.at(node.get())->dependencies.push_back(copies.at(dependency));
        }
    }
    return clone;
}

void destroy_graph(CUgraph graph) {
    forget(*graph);
    delete graph;
}

std::unique_ptr<CUgraphExec_st> make_exec(const CUgraph_st& graph) {
    auto exec = std::make_unique<CUgraphExec_st>();
    exec->id = driver().next_graph++;
    flatten(graph, {}, exec->nodes);
    return exec;
}

bool update_exec(CUgraphExec_st& exec, const CUgraph_st& graph) {
    std::vector<SimExecNode> fresh;
    flatten(graph, {}, fresh);
    const bool same =
        std::equal(fresh.begin(), fresh.end(), exec.nodes.begin(), exec.nodes.end(),
                   [](const SimExecNode& left, const SimExecNode& right) {
                       return left.work.type == right.work.type && left.dependencies == right.dependencies;
                   });
    if (same) {
        for (std::size_t index = 0; index < fresh.size(); ++index) {
            exec.nodes[index].work = fresh[index].work;
        }
    }
    return same;
}

SimExecNode* find_exec_node(CUgraphExec_st& exec, CUgraphNode source) {
    const auto found = std::find_if(exec.nodes.begin(), exec.nodes.end(),
                                    [source](const SimExecNode& node) { return node.source == source; });
    return found != exec.nodes.end() ? &*found : nullptr;
}

std::uint32_t node_index(const CUgraphNode_st& node) {
    const auto found = std::find_if(node.graph->nodes.begin(), node.graph->nodes.end(),
                                    [&node](const auto& other) { return other.get() == &node; });
    return static_cast<std::uint32_t>(found - node.graph->nodes.begin());
}

CUresult launch_graph(CUgraphExec exec, CUstream handle) {
    Aftermath after;
    {
        const Lock lock(driver().mutex);
        if (!driver().execs.contains(exec)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        CUstream_st* stream = find_stream(handle);
        if (stream == nullptr) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        const CUresult refused = refuse_in_capture(*stream);
        if (refused != CUDA_SUCCESS) {
            return refused;
        }
        stream->tail_ns = Replay(*exec, *stream, earliest_start_ns(*stream), after).run();
    }
    after.run();
    return CUDA_SUCCESS;
}

}  // namespace sim

extern "C" {
std::uint32_t sim_graph_id(CUgraph graph) {
    const sim::Lock lock(sim::driver().mutex);
    return sim::driver().graphs.contains(graph) ? graph->id : 0;
}

std::uint32_t sim_graph_exec_id(CUgraphExec exec) {
    const sim::Lock lock(sim::driver().mutex);
    return sim::driver().execs.contains(exec) ? exec->id : 0;
}

std::uint64_t sim_graph_node_id(CUgraphNode node) {
    const sim::Lock lock(sim::driver().mutex);
    return sim::driver().nodes.contains(node) ? std::uint64_t{node->graph->id} << 32 | sim::node_index(*node) : 0;
}
}

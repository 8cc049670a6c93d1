#include "interpose/record/graph.hpp"

#include "collector/ring/clock.hpp"
#include "collector/ring/ring.hpp"
#include "interpose/device/device.hpp"
#include "interpose/lifecycle/memory.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/lifecycle/wait.hpp"
#include "interpose/record/handle_map.hpp"
#include "interpose/record/names.hpp"
#include "interpose/resolve/driver_api.hpp"

#include <sys/mman.h>

namespace gpuspy::hook {
namespace {

constexpr std::uint32_t kMaxGraphDepth = 16;   ///< Child graphs in child graphs.
constexpr std::uint32_t kNodesPerEvent = 128;  ///< 3 KiB: fits any ring.
constexpr std::uint32_t kMaxWaitMs = 50;       ///< For the ring to drain, all in all, per instantiation.

constinit HandleMap node_owners;    ///< Node -> launch id of the captured or added call that made it.
constinit HandleMap exec_graphs;    ///< Executable graph -> the graph that it was made from.
constinit HandleMap exec_versions;  ///< Executable graph -> how often it was made or updated, all in all.
constinit HandleMap
    node_functions;  ///< Node in a version of an executable graph (node_key) -> function that it was given there.
constinit std::atomic<std::uint64_t> last_version{0};

/// Executable graphs whose nodes were switched since they were last written.
struct Switched {
    std::uint64_t exec;
    std::uint64_t graph;
};
constexpr std::uint32_t kMaxSwitched = 64;
constinit Switched switched[kMaxSwitched]{};
constinit SetUpLock switched_lock;

std::uint64_t word(const void* handle) noexcept {
    return reinterpret_cast<std::uintptr_t>(handle);
}

/// Another version of the executable graph, or another one at its address, has other keys.
std::uint64_t node_key(CUgraphExec exec, CUgraphNode node) noexcept {
    const std::uint64_t version = exec_versions.get(word(exec));
    return version == 0 ? 0 : (word(node) ^ version * 0x9e3779b97f4a7c15U) | 1;
}

/// The nodes of a graph, in a mapping that lives as long as the list.
class NodeList {
public:
    explicit NodeList(CUgraph graph) noexcept {
        const auto get_nodes = driver_api().graph_get_nodes;
        if (get_nodes == nullptr || get_nodes(graph, nullptr, &count_) != CUDA_SUCCESS || count_ == 0) {
            count_ = 0;
            return;
        }
        void* memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            count_ = 0;
            is_whole_ = false;
            return;
        }
        nodes_ = static_cast<CUgraphNode*>(memory);
        mapped_bytes_ = bytes();
        if (get_nodes(graph, nodes_, &count_) != CUDA_SUCCESS) {
            count_ = 0;
            is_whole_ = false;
        }
    }
    ~NodeList() {
        if (nodes_ != nullptr) munmap(nodes_, mapped_bytes_);
    }
    NodeList(const NodeList&) = delete;
    NodeList& operator=(const NodeList&) = delete;

    std::size_t size() const noexcept { return count_; }
    CUgraphNode operator[](std::size_t index) const noexcept { return nodes_[index]; }
    bool is_whole() const noexcept { return is_whole_; }

private:
    std::size_t bytes() const noexcept { return count_ * sizeof(CUgraphNode); }

    CUgraphNode* nodes_ = nullptr;
    std::size_t count_ = 0;
    std::size_t mapped_bytes_ = 0;
    bool is_whole_ = true;
};

CUgraphNodeType type_of(CUgraphNode node) noexcept {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    const auto get_type = driver_api().graph_node_get_type;
    if (get_type != nullptr) get_type(node, &type);
    return type;
}

CUgraph child_of(CUgraphNode node) noexcept {
    CUgraph child = nullptr;
    const auto get_child = driver_api().graph_child_graph_node_get_graph;
    return get_child != nullptr && get_child(node, &child) == CUDA_SUCCESS ? child : nullptr;
}

std::uint64_t function_of(const CUDA_KERNEL_NODE_PARAMS& params) noexcept {
    return params.func != nullptr ? word(params.func) : word(params.kern);
}

/// What the node launches in the executable graph.
std::uint64_t function_of(CUgraphExec exec, CUgraphNode node) noexcept {
    if (const std::uint64_t key = node_key(exec, node)) {
        if (const std::uint64_t function = node_functions.get(key)) return function;
    }
    const auto get_params = driver_api().graph_kernel_node_get_params;
    CUDA_KERNEL_NODE_PARAMS params{};
    if (get_params == nullptr || get_params(node, &params) != CUDA_SUCCESS) return 0;
    return function_of(params);
}

/// Writes the nodes of an executable graph to the ring, a group at a time, and counts them. Graphs are walked in their flattened
/// order: a graph's own nodes, then those of its child graphs, one after the other.
class GraphWriter {
public:
    GraphWriter(ThreadState& state, CUgraphExec exec, std::uint64_t ticks) noexcept : state_(state), exec_(exec) {
        group_.event.ticks = ticks;
        group_.event.exec = word(exec);
    }

    void walk(CUgraph graph, std::uint32_t depth = 0) noexcept {
        const NodeList nodes(graph);
        if (!nodes.is_whole() || depth == kMaxGraphDepth) is_whole_ = false;
        if (depth == kMaxGraphDepth) return;
        bool has_children = false;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const CUgraphNodeType type = type_of(nodes[i]);
            has_children = has_children || type == CU_GRAPH_NODE_TYPE_GRAPH;
            if (is_enabled(nodes[i])) add(nodes[i], type);
            ++next_index_;
        }
        for (std::size_t i = 0; has_children && i < nodes.size(); ++i) {
            if (type_of(nodes[i]) != CU_GRAPH_NODE_TYPE_GRAPH) continue;
            if (CUgraph child = child_of(nodes[i])) walk(child, depth + 1);
        }
    }

    /// After the walk: what it found, for the GraphExecEvent.
    void finish(abi::GraphExecEvent& event) noexcept {
        flush();
        event.kernel_nodes = kernels_;
        event.memcpy_nodes = copies_;
        event.memset_nodes = sets_;
        event.other_nodes = others_;
        if (is_conditional_) event.flags |= abi::kGraphConditional;
        if (!is_whole_) event.flags |= abi::kGraphNodesLost;
    }

private:
    /// Nodes that cannot be switched (in child graphs, of other types) give an error: they run.
    bool is_enabled(CUgraphNode node) const noexcept {
        unsigned enabled = 1;
        const auto get_enabled = driver_api().graph_node_get_enabled;
        return get_enabled == nullptr || get_enabled(exec_, node, &enabled) != CUDA_SUCCESS || enabled != 0;
    }

    void add(CUgraphNode node, CUgraphNodeType type) noexcept {
        if (type == CU_GRAPH_NODE_TYPE_KERNEL)
            ++kernels_;
        else if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
            ++copies_;
        else if (type == CU_GRAPH_NODE_TYPE_MEMSET)
            ++sets_;
        else
            ++others_;
        if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) is_conditional_ = true;
        const std::uint64_t function = type == CU_GRAPH_NODE_TYPE_KERNEL ? function_of(exec_, node) : 0;
        if (function != 0 && !is_name_known(function)) learn_name(function, group_.event.ticks);
        group_.nodes[group_.event.count++] = {next_index_, static_cast<std::uint32_t>(type), function,
                                              node_owners.get(word(node))};
        if (group_.event.count == kNodesPerEvent) flush();
    }

    void flush() noexcept {
        if (group_.event.count == 0) return;
        const std::size_t bytes = sizeof(abi::GraphNodesEvent) + group_.event.count * sizeof(abi::GraphNode);
        const auto words = static_cast<std::uint32_t>(bytes / 8);
        group_.event.header = {static_cast<std::uint16_t>(words), abi::EventType::kGraphNodes, 0, 0, 0};
        std::uint64_t* at = ring::reserve(state_.ring, state_.ring_bytes, words);
        // Instantiation takes milliseconds by itself: to wait a little for the drain thread is better than to lose nodes.
        while (at == nullptr && waited_ms_ < kMaxWaitMs) {
            wake_drain();
            pause_ms(1);
            ++waited_ms_;
            at = ring::reserve(state_.ring, state_.ring_bytes, words);
        }
        if (at != nullptr) {
            __builtin_memcpy(at, &group_, bytes);
            ring::commit(state_.ring, at);
        } else {
            count_loss(abi::LossCause::kGraphNodesDropped, group_.event.count);
            is_whole_ = false;
        }
        group_.event.count = 0;
    }

    ThreadState& state_;
    CUgraphExec exec_;
    struct {
        abi::GraphNodesEvent event{};
        abi::GraphNode nodes[kNodesPerEvent];
    } group_;
    std::uint32_t next_index_ = 0;
    std::uint32_t kernels_ = 0;
    std::uint32_t copies_ = 0;
    std::uint32_t sets_ = 0;
    std::uint32_t others_ = 0;
    std::uint32_t waited_ms_ = 0;
    bool is_whole_ = true;
    bool is_conditional_ = false;
};

void copy_owners_of(CUgraph original, CUgraph copy, std::uint32_t depth) noexcept {
    const NodeList from(original);
    const NodeList to(copy);
    if (from.size() != to.size() || depth == kMaxGraphDepth) return;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (const std::uint64_t owner = node_owners.get(word(from[i]))) node_owners.set(word(to[i]), owner);
        if (type_of(from[i]) != CU_GRAPH_NODE_TYPE_GRAPH) continue;
        const CUgraph child_from = child_of(from[i]);
        const CUgraph child_to = child_of(to[i]);
        if (child_from != nullptr && child_to != nullptr) copy_owners_of(child_from, child_to, depth + 1);
    }
}

void write_exec(ThreadState& state, CUgraphExec exec, CUgraph graph, std::uint64_t ticks, bool updated) noexcept {
    abi::GraphExecEvent event{};
    event.ticks = ticks;
    event.exec = word(exec);
    event.cupti_exec_id = cupti_exec_id(exec);
    if (updated) event.flags |= abi::kGraphUpdated;
    GraphWriter writer(state, exec, ticks);
    writer.walk(graph);
    writer.finish(event);
    constexpr std::uint32_t kWords = sizeof event / 8;
    event.header = {kWords, abi::EventType::kGraphExec, 0, 0, 0};
    if (std::uint64_t* at = ring::reserve(state.ring, state.ring_bytes, kWords)) {
        __builtin_memcpy(at, &event, sizeof event);
        ring::commit(state.ring, at);
    } else {
        ring::count_drop(state.ring);
    }
}

/// False: there is no room to remember it.
bool add_switched(std::uint64_t exec, std::uint64_t graph) noexcept {
    const Locked guard(switched_lock);
    Switched* empty = nullptr;
    for (Switched& entry : switched) {
        if (entry.exec == exec) return true;
        if (entry.exec == 0 && empty == nullptr) empty = &entry;
    }
    if (empty == nullptr) return false;
    *empty = {exec, graph};
    switched_execs.fetch_add(1, std::memory_order_relaxed);
    return true;
}

/// Forgets and returns the entry of this executable graph, or one that was made from this graph; {0, 0}: none.
Switched take_switched(std::uint64_t exec, std::uint64_t graph) noexcept {
    const Locked guard(switched_lock);
    for (Switched& entry : switched) {
        if (entry.exec == 0 || (exec != 0 ? entry.exec != exec : entry.graph != graph)) continue;
        const Switched taken = entry;
        entry = {0, 0};
        switched_execs.fetch_sub(1, std::memory_order_relaxed);
        return taken;
    }
    return {0, 0};
}

}  // namespace

constinit std::atomic<std::uint32_t> switched_execs{0};

void own_node(const CallFrame& frame, CallParts& parts, CUgraphNode node) noexcept {
    parts.flags |= abi::kCallLaunchId;
    parts.launch_id = next_launch_id(*frame.state);
    node_owners.set(word(node), parts.launch_id);
}

void copy_owners(CUgraph original, CUgraph copy) noexcept {
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    copy_owners_of(original, copy, 0);
}

void child_graph_added(CUgraphNode node, CUgraph child) noexcept {
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    if (CUgraph copy = child_of(node)) copy_owners_of(child, copy, 0);
}

void graph_instantiated(const CallFrame& frame, CUgraphExec exec, CUgraph graph, bool updated) noexcept {
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    exec_graphs.set(word(exec), word(graph));
    exec_versions.set(word(exec), last_version.fetch_add(1, std::memory_order_relaxed) + 1);
    write_exec(*frame.state, exec, graph, ring::ticks(), updated);
}

void exec_switched(const CallFrame& frame, CUgraphExec exec) noexcept {
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    const std::uint64_t graph = exec_graphs.get(word(exec));
    if (graph == 0) return;  // made before the recording: what it holds is not known anyway
    if (!add_switched(word(exec), graph)) {
        write_exec(*frame.state, exec, reinterpret_cast<CUgraph>(graph), ring::ticks(), true);
    }
}

void exec_node_changed(const CallFrame& frame, CUgraphExec exec, CUgraphNode node,
                       const CUDA_KERNEL_NODE_PARAMS& params) noexcept {
    const std::uint64_t key = node_key(exec, node);
    const std::uint64_t function = function_of(params);
    // Arguments are changed at every launch by some, the kernel hardly ever. The graph that the node is of may be gone: the
    // driver is not asked.
    if (key == 0 || node_functions.get(key) == function) return;
    node_functions.set(key, function);
    exec_switched(frame, exec);
}

void write_switched_exec(const CallFrame& frame, CUgraphExec exec) noexcept {
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    const Switched taken = take_switched(word(exec), 0);
    if (taken.exec == 0) return;
    write_exec(*frame.state, exec, reinterpret_cast<CUgraph>(taken.graph), frame.begin_ticks, true);
}

void graph_goes(CUgraph graph) noexcept {
    ThreadState* state = current_thread();
    if (!is_any_exec_switched() || state == nullptr) return;
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    for (Switched taken = take_switched(0, word(graph)); taken.exec != 0; taken = take_switched(0, word(graph))) {
        write_exec(*state, reinterpret_cast<CUgraphExec>(taken.exec), graph, ring::ticks(), true);
    }
}

void exec_goes(CUgraphExec exec) noexcept {
    if (!is_any_exec_switched()) return;
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    take_switched(word(exec), 0);
}

}  // namespace gpuspy::hook

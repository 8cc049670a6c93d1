// Calls of each thread, as they come from the trace (post-order: written when they return) -> whole call trees.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/reader/records.hpp"
#include "analysis/reader/symbols.hpp"

namespace gpuspy::analysis {

/// A call and, right before it in the same span, all calls inside it: subtree - 1 of them.
struct TreeNode {
    CallRecord call;
    std::uint32_t subtree = 1;
    int note = -1;  ///< As add() was given it: what someone read from the call's arguments, which do not live on.
};

/// What lies around and inside a call of a tree. Indices are into the tree's span; -1 for none.
struct CallContext {
    int parent = -1;
    int library = -1;   ///< The outermost call of level library around it, or itself.
    int blocking = -1;  ///< The outermost blocking call around it, or itself.
    bool launch_inside = false;
    bool copy_inside = false;  ///< A copy or a set.
};

/// Depth and containment in time both decide who is inside whom, so a call that was dropped (by a full ring) takes
/// nothing with it: its children go to the next call around them, or become trees of their own ("orphans").
class CallForest {
public:
    /// Trees are handed over once their outermost call has returned, in post-order.
    using Sink = std::function<void(std::span<const TreeNode> tree)>;

    /// At most this many calls of a thread wait for the call around them; more are handed over without it.
    static constexpr std::size_t kMaxWaiting = 1U << 16;

    explicit CallForest(Sink sink) : sink_(std::move(sink)) {}

    void add(const CallRecord& call, int note = -1);
    /// Hands over what still waits: the calls around it never returned.
    void finish();

private:
    void release(std::vector<TreeNode>& waiting, std::size_t count);

    Sink sink_;
    std::unordered_map<std::uint32_t, std::vector<TreeNode>> waiting_;  // by thread
};

/// The context of each call of a tree.
void find_contexts(std::span<const TreeNode> tree, const Symbols& symbols, std::vector<CallContext>& contexts);

}  // namespace gpuspy::analysis

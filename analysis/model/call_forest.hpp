// Calls of each thread, as they come from the trace (post-order: written when they return) -> whole call trees.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/reader/records.hpp"
#include "analysis/reader/symbols.hpp"

namespace gpuspy::analysis {

/// No answer: TreeNode::work.
inline constexpr std::uint32_t kNoWork = UINT32_MAX;

/// A call and, right before it in the same span, all calls inside it: subtree - 1 of them.
struct TreeNode {
    CallRecord call;
    std::uint32_t subtree = 1;
    std::int64_t begin_ns = 0, end_ns = 0;  ///< In the host's time, as add() was given them.
    int note = -1;  ///< As add() was given it: what someone read from the call's arguments, which do not live on.
    std::uint32_t work = kNoWork;  ///< Model::works
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

    void add(const CallRecord& call) { add(TreeNode{call}); }
    /// Sets the node's `subtree`.
    void add(TreeNode node);
    /// Calls of the thread wait for the call around them.
    [[nodiscard]] bool waits(std::uint32_t thread) const {
        return thread < waiting_.size() && !waiting_[thread].empty();
    }
    /// What waiting_since_ticks() looks at: calls, and threads.
    [[nodiscard]] std::size_t waiting_size() const { return waiting_count_ + waiting_.size(); }
    /// When the first of all calls that wait began; the greatest number if none does.
    [[nodiscard]] std::uint64_t waiting_since_ticks() const;
    /// Hands over what still waits: the calls around it never returned.
    void finish();

private:
    void release(std::vector<TreeNode>& waiting);

    Sink sink_;
    std::vector<std::vector<TreeNode>> waiting_;  // by thread
    std::size_t waiting_count_ = 0;
    std::vector<std::size_t> ends_;  // of the trees that release() hands over
};

/// The context of each call of a tree.
void find_contexts(std::span<const TreeNode> tree, const Symbols& symbols, std::vector<CallContext>& contexts);

}  // namespace gpuspy::analysis

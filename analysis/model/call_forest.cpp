#include "analysis/model/call_forest.hpp"

#include <algorithm>
#include <limits>

namespace gpuspy::analysis {

void CallForest::add(TreeNode node) {
    const CallRecord& call = node.call;
    if (call.thread >= waiting_.size()) {
        waiting_.resize(std::size_t{call.thread} + 1);
    }
    std::vector<TreeNode>& waiting = waiting_[call.thread];
    if (waiting.empty() && call.depth == 0) {
        node.subtree = 1;
        sink_(std::span(&node, 1));
        return;
    }
    std::size_t first = waiting.size();
    while (first > 0) {
        const TreeNode& root = waiting[first - 1];
        const bool inside = root.call.depth > call.depth && root.call.begin_ticks >= call.begin_ticks &&
                            root.call.end_ticks <= call.end_ticks;
        if (!inside) {
            break;
        }
        first -= root.subtree;
    }
    node.subtree = static_cast<std::uint32_t>(waiting.size() - first + 1);
    const bool whole = call.depth == 0 || waiting.size() + 1 >= kMaxWaiting;
    waiting.push_back(std::move(node));
    ++waiting_count_;
    if (whole) {
        release(waiting);
    }
}

std::uint64_t CallForest::waiting_since_ticks() const {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    for (const std::vector<TreeNode>& waiting : waiting_) {
        for (const TreeNode& node : waiting) {
            first = std::min(first, node.call.begin_ticks);
        }
    }
    return first;
}

void CallForest::finish() {
    for (std::vector<TreeNode>& waiting : waiting_) {
        release(waiting);
    }
}

void CallForest::release(std::vector<TreeNode>& waiting) {
    // Trees lie one after the other, each ending with its root, which knows where it begins.
    ends_.clear();
    for (std::size_t end = waiting.size(); end > 0; end -= waiting[end - 1].subtree) {
        ends_.push_back(end);
    }
    for (auto end = ends_.rbegin(); end != ends_.rend(); ++end) {
        const std::size_t size = waiting[*end - 1].subtree;
        sink_(std::span(waiting).subspan(*end - size, size));
    }
    waiting_count_ -= waiting.size();
    waiting.clear();
}

void find_contexts(std::span<const TreeNode> tree, const Symbols& symbols, std::vector<CallContext>& contexts) {
    contexts.assign(tree.size(), {});
    // Backwards, every call comes after the calls around it.
    int around = -1;
    for (std::size_t at = tree.size(); at-- > 0;) {
        while (around >= 0) {
            const auto outer = static_cast<std::size_t>(around);
            if (outer - (tree[outer].subtree - 1) <= at) {
                break;
            }
            around = contexts[outer].parent;
        }
        CallContext& context = contexts[at];
        const ApiInfo& api = symbols.api(tree[at].call.api);
        if (around >= 0) {
            const CallContext& outer = contexts[static_cast<std::size_t>(around)];
            context.parent = around;
            context.library = outer.library;
            context.blocking = outer.blocking;
        }
        if (context.library < 0 && api.level == abi::ApiLevel::kLibrary) {
            context.library = static_cast<int>(at);
        }
        if (context.blocking < 0 && api.blocking()) {
            context.blocking = static_cast<int>(at);
        }
        around = static_cast<int>(at);
    }
    // Forwards, every call comes after the calls inside it.
    for (std::size_t at = 0; at < tree.size(); ++at) {
        const CallContext& context = contexts[at];
        if (context.parent < 0) {
            continue;
        }
        const ApiInfo& api = symbols.api(tree[at].call.api);
        CallContext& parent = contexts[static_cast<std::size_t>(context.parent)];
        parent.launch_inside |= context.launch_inside || api.launches();
        parent.copy_inside |=
            context.copy_inside || api.api_class == abi::ApiClass::kCopy || api.api_class == abi::ApiClass::kSet;
    }
}

}  // namespace gpuspy::analysis

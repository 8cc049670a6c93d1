#include "analysis/model/call_forest.hpp"

namespace gpuspy::analysis {

void CallForest::add(const CallRecord& call, int note) {
    std::vector<TreeNode>& waiting = waiting_[call.thread];
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
    const auto subtree = static_cast<std::uint32_t>(waiting.size() - first + 1);
    waiting.push_back({call, subtree, note});
    if (call.depth == 0 || waiting.size() >= kMaxWaiting) {
        release(waiting, waiting.size());
    }
}

void CallForest::finish() {
    for (auto& [thread, waiting] : waiting_) {
        release(waiting, waiting.size());
    }
}

void CallForest::release(std::vector<TreeNode>& waiting, std::size_t count) {
    // Trees lie one after the other, each ending with its root, which knows where it begins.
    std::vector<std::size_t> ends;
    for (std::size_t end = count; end > 0; end -= waiting[end - 1].subtree) {
        ends.push_back(end);
    }
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
        const std::size_t size = waiting[*end - 1].subtree;
        sink_(std::span(waiting).subspan(*end - size, size));
    }
    waiting.clear();
}

void find_contexts(std::span<const TreeNode> tree, const Symbols& symbols, std::vector<CallContext>& contexts) {
    contexts.assign(tree.size(), {});
    // Backwards, every call comes after the calls around it.
    std::vector<std::size_t> around;
    for (std::size_t at = tree.size(); at-- > 0;) {
        while (!around.empty() && around.back() - (tree[around.back()].subtree - 1) > at) {
            around.pop_back();
        }
        CallContext& context = contexts[at];
        const ApiInfo& api = symbols.api(tree[at].call.api);
        if (!around.empty()) {
            context.parent = static_cast<int>(around.back());
            context.library = contexts[around.back()].library;
            context.blocking = contexts[around.back()].blocking;
        }
        if (context.library < 0 && api.level == abi::ApiLevel::kLibrary) {
            context.library = static_cast<int>(at);
        }
        if (context.blocking < 0 && api.blocking()) {
            context.blocking = static_cast<int>(at);
        }
        around.push_back(at);
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

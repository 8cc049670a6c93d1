#include "analysis/model/call_pass.hpp"

#include <algorithm>
#include <utility>

namespace gpuspy::analysis {
namespace {

std::uint64_t distance_ns(std::int64_t from, std::int64_t to) {
    return to > from ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) : 0;
}

}  // namespace

CallPass::CallPass(Model& model, TimelineBuilder& timeline, EventBatches& batches)
    : model_(model),
      timeline_(timeline),
      batches_(batches),
      works_(model.index.symbols),
      forest_([this](std::span<const TreeNode> tree) { on_tree(tree); }),
      host_clock_(model.index.host_clock) {
    model_.apis.resize(model_.index.symbols.apis().size());
    model_.threads.resize(model_.index.symbols.threads().size());
    covered_until_.resize(model_.threads.size(), INT64_MIN);
}

void CallPass::on_block(const BlockInfo& block) {
    batch_.open_since_ticks = UINT64_MAX;
    if (block.index == 0) {
        // It looks at all calls that wait: no more often than as many again have come. Else nothing is settled.
        const bool is_due = calls_ >= forest_.waiting_size();
        batch_.open_since_ticks = is_due ? forest_.waiting_since_ticks() : 0;
        calls_ = is_due ? 0 : calls_;
    }
}

void CallPass::on_block_end() {
    const std::size_t launches = batch_.launches.size();
    batches_.put(std::exchange(batch_, {}));
    batch_.launches.reserve(launches);
}

void CallPass::finish() {
    forest_.finish();
    batches_.put(std::exchange(batch_, {}));
    model_.works = works_.finish();
}

void CallPass::add_counts() {
    LaunchCounts& all = model_.launches;
    for (const auto count :
         {&LaunchCounts::host, &LaunchCounts::captured, &LaunchCounts::failed, &LaunchCounts::untimed,
          &LaunchCounts::unhooked, &LaunchCounts::graph_launches, &LaunchCounts::graph_nodes,
          &LaunchCounts::unknown_graphs, &LaunchCounts::conditional_graphs}) {
        all.*count += counts_.*count;
    }
    for (const auto& [kind, copies] : copies_) {
        model_.copies[kind].count += copies.count;
        model_.copies[kind].bytes += copies.bytes;
    }
}

void CallPass::on_call(const CallRecord& call) {
    ApiStats& stats = model_.apis[call.api];
    TreeNode node{call};
    node.begin_ns = host_clock_.at(call.begin_ticks);
    node.end_ns = host_clock_.at(call.end_ticks);
    const std::uint64_t duration_ns = distance_ns(node.begin_ns, node.end_ns);
    stats.duration_ns.add(duration_ns);
    model_.collectives.add(call, model_.index.symbols.api(call.api), duration_ns);
    stats.failed += call.has(abi::kCallStatus) ? 1 : 0;
    ++model_.threads[call.thread].calls;
    if (model_.timeline != nullptr) {
        node.note = timeline_.note(call);
        node.work = works_.add(call);
    }
    ++calls_;
    forest_.add(std::move(node));
}

void CallPass::on_tree(std::span<const TreeNode> tree) {
    find_contexts(tree, model_.index.symbols, contexts_);
    note_outermost(tree.back());
    first_of_tree_ = timeline_.add_tree(tree, contexts_);
    for (std::size_t i = 0; i < tree.size(); ++i) {
        const CallRecord& call = tree[i].call;
        const ApiInfo& api = model_.index.symbols.api(call.api);
        const CallContext& context = contexts_[i];
        if (context.blocking == static_cast<int>(i)) {
            batch_.waits.push_back({call.thread, call.api, tree[i].begin_ns, tree[i].end_ns});
        }
        const bool copies = api.api_class == abi::ApiClass::kCopy || api.api_class == abi::ApiClass::kSet;
        if (api.launches() && !context.launch_inside) {
            note_launch(tree, i);
        } else if (copies && !context.copy_inside) {
            note_copy(call, api);
        } else if (!copies && !api.launches() && call.has(abi::kCallCorrelation)) {
            Launch other = launch_of(tree, i);
            other.kind = Launch::Kind::kOther;
            batch_.launches.push_back(other);
        }
    }
}

/// A thread's calls come in the order in which they end, so what they cover is known from where the last one ended.
void CallPass::note_outermost(const TreeNode& node) {
    ++model_.apis[node.call.api].outermost;
    std::int64_t& covered = covered_until_[node.call.thread];
    model_.threads[node.call.thread].api_ns += distance_ns(std::max(node.begin_ns, covered), node.end_ns);
    covered = std::max(covered, node.end_ns);
}

Launch CallPass::launch_of(std::span<const TreeNode> tree, std::size_t position) {
    const CallContext& context = contexts_[position];
    const CallRecord& call = tree[position].call;
    Launch launch;
    launch.timeline_call = first_of_tree_ == kNone ? kNone : first_of_tree_ + static_cast<std::uint32_t>(position);
    launch.expects_records = !untimed(call);
    launch.has_correlation = call.has(abi::kCallCorrelation);
    // A call that only CUPTI saw has no caller of its own; inside a library call it is the library's.
    if (!call.has(abi::kCallUnhooked) || context.library >= 0 || context.parent >= 0) {
        launch.owner = model_.owners.resolve(owner_evidence(tree, context), model_.index.symbols, model_.index.objects);
    }
    launch.thread = call.thread;
    launch.correlation = call.correlation;
    launch.stream = call.stream;
    launch.begin_ticks = call.begin_ticks;
    launch.function = call.function;
    return launch;
}

bool CallPass::untimed(const CallRecord& call) const {
    if (call.has(abi::kCallUntimed)) {
        return true;
    }
    // The call's own word decides where it has a correlation id; else the spans do.
    return !call.has(abi::kCallCorrelation) && (!model_.index.on_at(abi::SpanKind::kDevice, call.begin_ticks) ||
                                                !model_.index.on_at(abi::SpanKind::kDevice, call.end_ticks));
}

void CallPass::note_launch(std::span<const TreeNode> tree, std::size_t position) {
    const CallRecord& call = tree[position].call;
    const ApiInfo& api = model_.index.symbols.api(call.api);
    ++counts_.host;
    counts_.unhooked += call.has(abi::kCallUnhooked) ? 1 : 0;
    if (call.has(abi::kCallStatus)) {
        ++counts_.failed;
        return;
    }
    if (call.has(abi::kCallCaptured)) {
        ++counts_.captured;
        return;
    }
    Launch launch = launch_of(tree, position);
    counts_.untimed += launch.expects_records ? 0 : 1;
    if (api.api_class == abi::ApiClass::kMulti) {
        launch.kind = Launch::Kind::kMulti;
    } else if (api.api_class == abi::ApiClass::kGraphLaunch) {
        launch.kind = Launch::Kind::kGraph;
        launch.graph = model_.index.graphs.find(call.graph_exec, call.begin_ticks);
        ++counts_.graph_launches;
        counts_.graph_nodes += launch.graph == nullptr ? 0 : launch.graph->kernel_nodes;
        counts_.unknown_graphs += launch.graph == nullptr ? 1 : 0;
        counts_.conditional_graphs += launch.graph != nullptr && launch.graph->conditional() ? 1 : 0;
    }
    batch_.launches.push_back(launch);
}

/// Copies are counted by their device records; where none will come, by their calls.
void CallPass::note_copy(const CallRecord& call, const ApiInfo& api) {
    if (call.has(abi::kCallStatus) || call.has(abi::kCallCaptured) || !call.has(abi::kCallCopy) || !untimed(call)) {
        return;
    }
    const bool set = api.api_class == abi::ApiClass::kSet;
    CopyStats& copy = copies_[set ? static_cast<std::uint64_t>(abi::CopyKind::kSet) : call.copy_kind];
    ++copy.count;
    copy.bytes += call.copy_bytes;
}

}  // namespace gpuspy::analysis

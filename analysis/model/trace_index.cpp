#include "analysis/model/trace_index.hpp"

#include <algorithm>

namespace gpuspy::analysis {

bool TraceIndex::on_at(abi::SpanKind kind, std::uint64_t ticks) const {
    bool on = false;
    for (const SpanChange& change : spans[static_cast<std::size_t>(kind)]) {
        if (change.ticks > ticks) {
            break;
        }
        on = change.on;
    }
    return on;
}

bool TraceIndex::ever_on(abi::SpanKind kind) const {
    const auto& changes = spans[static_cast<std::size_t>(kind)];
    return std::any_of(changes.begin(), changes.end(), [](const SpanChange& change) { return change.on; });
}

TraceIndexBuilder::TraceIndexBuilder(TraceIndex& index)
    : index_(index), forest_([this](std::span<const TreeNode> tree) { note_tree(tree); }) {}

void TraceIndexBuilder::seen(std::uint64_t ticks) {
    index_.first_ticks = std::min(index_.first_ticks, ticks);
    index_.last_ticks = std::max(index_.last_ticks, ticks);
}

void TraceIndexBuilder::on_block(const BlockInfo& block) {
    in_salvaged_block_ = block.salvaged;
    if (block.index == 0 || index_.horizons.empty()) {
        index_.horizons.emplace_back();
    }
    if (!block.salvaged) {
        index_.last_block_ticks = std::max(index_.last_block_ticks, block.ticks);
    }
}

void TraceIndexBuilder::on_anchor(const AnchorRecord& record) {
    ++index_.anchors;
    index_.host_clock.add(record.ticks, record.monotonic_ns);
    if (record.device_clock_ns != 0) {
        index_.device_clock.add(record.device_clock_ns, record.monotonic_ns);
    }
    if (!in_salvaged_block_) {
        seen(record.ticks);
    }
}

void TraceIndexBuilder::on_call(const CallRecord& call) {
    ++index_.events;
    Horizon& horizon = index_.horizons.back();
    horizon.call_ticks = std::min(horizon.call_ticks, call.begin_ticks);
    seen(call.begin_ticks);
    seen(call.end_ticks);
    index_.last_call_ticks = std::max(index_.last_call_ticks, call.begin_ticks);
    // A tree is wanted where a call of it was captured: the calls around that return after it.
    if (call.has(abi::kCallLaunchId) || forest_.waits(call.thread)) {
        forest_.add(call);
    }
}

void TraceIndexBuilder::note_tree(std::span<const TreeNode> tree) {
    const bool any =
        std::any_of(tree.begin(), tree.end(), [](const TreeNode& node) { return node.call.has(abi::kCallLaunchId); });
    if (!any) {
        return;
    }
    find_contexts(tree, index_.symbols, contexts_);
    for (std::size_t at = 0; at < tree.size(); ++at) {
        if (tree[at].call.has(abi::kCallLaunchId)) {
            index_.captured[tree[at].call.launch_id] = owner_evidence(tree, contexts_[at]);
        }
    }
}

void TraceIndexBuilder::on_span(const SpanRecord& record) {
    if (record.what < index_.spans.size()) {
        index_.spans[static_cast<std::size_t>(record.what)].push_back(
            {record.ticks, record.on != 0, std::string(record.reason)});
    }
}

void TraceIndexBuilder::on_cpu(const CpuRecord& record) {
    if (!index_.first_cpu) {
        index_.first_cpu = record;
    }
    index_.last_cpu = record;
    seen(record.ticks);
}

void TraceIndexBuilder::on_end(const EndRecord& record) {
    index_.ends[record.kind] = record;
    if (record.kind == static_cast<std::uint64_t>(abi::EndKind::kClean)) {
        seen(record.ticks);
    }
}

void TraceIndexBuilder::on_notice(std::uint64_t ticks, std::string_view text) {
    constexpr std::size_t kMaxNotices = 100;
    if (index_.notices.size() < kMaxNotices) {
        index_.notices.push_back({ticks, std::string(text)});
    }
}

void TraceIndexBuilder::finish(const ReadSummary& reading) {
    forest_.finish();
    for (std::size_t segment = index_.horizons.size(); segment-- > 1;) {
        Horizon& before = index_.horizons[segment - 1];
        before.call_ticks = std::min(before.call_ticks, index_.horizons[segment].call_ticks);
        before.device_ns = std::min(before.device_ns, index_.horizons[segment].device_ns);
    }
    index_.reading = reading;
    for (const auto& [key, count] : losses_) {
        index_.losses[key.first] += count;
    }
    if (index_.kept) {
        seen(index_.kept->ticks);
    } else if (reading.start_ticks != 0) {
        seen(reading.start_ticks);
    }
    if (index_.first_ticks > index_.last_ticks) {
        index_.first_ticks = index_.last_ticks;
    }
    double ns_per_tick = 1;
    if (index_.process && index_.process->tick_hz != 0) {
        ns_per_tick = 1e9 / static_cast<double>(index_.process->tick_hz);
    }
    if (index_.host_clock.empty() && index_.process) {
        index_.host_clock.add(reading.start_ticks, index_.process->start_monotonic_ns);
    }
    index_.dropped_anchors = index_.host_clock.finish(ns_per_tick);
    index_.device_clock.finish(1);
    index_.objects.finish();
    index_.names.finish();
    index_.graphs.finish();
    for (std::vector<SpanChange>& changes : index_.spans) {
        std::stable_sort(changes.begin(), changes.end(),
                         [](const SpanChange& a, const SpanChange& b) { return a.ticks < b.ticks; });
    }
}

}  // namespace gpuspy::analysis

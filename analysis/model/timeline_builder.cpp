#include "analysis/model/timeline_builder.hpp"

#include <algorithm>

namespace gpuspy::analysis {

std::uint32_t TimelineBuilder::add_tree(std::span<const TreeNode> tree, std::span<const CallContext> contexts) {
    if (model_.timeline == nullptr) {
        return kNone;
    }
    const TraceIndex& index = model_.index;
    std::vector<HostCall>& calls = model_.timeline->calls;
    const auto first = static_cast<std::uint32_t>(calls.size());
    const auto link = [first](int inside) { return inside < 0 ? kNone : first + static_cast<std::uint32_t>(inside); };
    for (std::size_t i = 0; i < tree.size(); ++i) {
        const CallRecord& record = tree[i].call;
        const CallContext& context = contexts[i];
        HostCall& call = calls.emplace_back();
        call.begin_ns = index.host_clock.at(record.begin_ticks);
        call.end_ns = index.host_clock.at(record.end_ticks);
        call.api = record.api;
        call.thread = record.thread;
        call.parent = link(context.parent);
        call.library = link(context.library);
        call.flags = record.flags;
        call.work = tree[i].work;
        call.status = record.status;
        call.caller = record.caller;
        call.stream = record.stream;
        call.correlation = record.correlation;
        call.launch_id = record.launch_id;
        call.function = record.function;
        call.graph_exec = record.graph_exec;
        call.copy_bytes = record.copy_bytes;
        call.copy_kind = record.copy_kind;
        call.is_launch = index.symbols.api(record.api).launches() && !context.launch_inside;
        call.outermost_blocking = context.blocking == static_cast<int>(i);
        // A call that only CUPTI saw has no caller of its own.
        if (!record.has(abi::kCallUnhooked) || context.library >= 0 || context.parent >= 0) {
            call.owner = model_.owners.resolve(owner_evidence(tree, context), index.symbols, index.objects);
        }
        call.site = model_.owners.resolve({-1, record.caller, record.begin_ticks}, index.symbols, index.objects);
        const std::uint32_t position = first + static_cast<std::uint32_t>(i);
        if (record.has(abi::kCallCorrelation)) {
            by_correlation_[record.correlation].push_back(position);
        }
        if (record.has(abi::kCallLaunchId)) {
            by_launch_id_.try_emplace(record.launch_id, position);
        }
    }
    add_memory(tree, contexts, first);
    return first;
}

int TimelineBuilder::note(const CallRecord& call) {
    if (model_.timeline == nullptr) {
        return -1;
    }
    const auto event = memory_reader_.read(call, model_.index.symbols.api(call.api));
    if (!event) {
        return -1;
    }
    noted_.push_back(*event);
    return static_cast<int>(noted_.size()) - 1;
}

/// A memory call inside another is how the outer one is made, so the outer one counts; but where the outer one does not
/// say its size, the inner one does.
void TimelineBuilder::add_memory(std::span<const TreeNode> tree, std::span<const CallContext> contexts,
                                 std::uint32_t first) {
    const auto known = [&](std::size_t at) {
        return tree[at].note >= 0 && noted_[static_cast<std::size_t>(tree[at].note)].action != MemoryAction::kNotKnown;
    };
    for (std::size_t at = 0; at < tree.size(); ++at) {
        if (tree[at].note < 0) {
            continue;
        }
        bool counts = true;
        for (int around = contexts[at].parent; around >= 0;
             around = contexts[static_cast<std::size_t>(around)].parent) {
            const auto outer = static_cast<std::size_t>(around);
            counts = counts && !(known(outer) || (!known(at) && tree[outer].note >= 0));
        }
        for (std::size_t inside = at + 1 - tree[at].subtree; inside < at; ++inside) {
            counts = counts && (known(at) || !known(inside));
        }
        if (counts) {
            const HostCall& call = model_.timeline->calls[first + at];
            MemoryEvent event = noted_[static_cast<std::size_t>(tree[at].note)];
            event.at_ns = event.action == MemoryAction::kAllocate || event.action == MemoryAction::kMap ? call.end_ns
                                                                                                        : call.begin_ns;
            event.site = call.site;
            model_.timeline->memory.push_back(event);
        }
    }
}

std::uint32_t TimelineBuilder::add_activity(const ActivityRecord& record, bool timed) {
    if (model_.timeline == nullptr) {
        return kNone;
    }
    std::vector<DeviceActivity>& activities = model_.timeline->activities;
    const auto position = static_cast<std::uint32_t>(activities.size());
    DeviceActivity& activity = activities.emplace_back();
    activity.record = record;
    activity.timed = timed;
    if (timed) {
        const LinearMap& clock = model_.index.device_clock;
        const auto host_time = [&clock](std::uint64_t ns) {
            return clock.empty() ? static_cast<std::int64_t>(ns) : clock.at(ns);
        };
        activity.begin_ns = host_time(record.start_ns);
        activity.end_ns = host_time(record.start_ns + record.duration_ns);
    }
    return position;
}

void TimelineBuilder::link(std::uint32_t activity, std::uint32_t call, std::uint64_t captured, std::uint32_t owner) {
    if (model_.timeline == nullptr) {
        return;
    }
    model_.timeline->activities[activity].call = call;
    model_.timeline->activities[activity].owner = owner;
    if (captured != 0) {
        captured_.emplace_back(activity, captured);
    }
}

void TimelineBuilder::add_range(const RangeRecord& record) {
    if (model_.timeline != nullptr) {
        ranges_.add(record);
    }
}

void TimelineBuilder::finish_ranges() {
    const LinearMap& clock = model_.index.host_clock;
    const RangeList list = ranges_.finish(model_.index.last_ticks);
    // Of the last part of a recording: what ends there may have begun before.
    const std::uint64_t without_begin = model_.index.kept ? 0 : list.missing_pushes + list.missing_starts;
    model_.timeline->unpaired_ranges = without_begin + list.missing_pops;
    for (const Range& range : list.ranges) {
        model_.timeline->ranges.push_back({range.kind, range.open, clock.at(range.begin_ticks),
                                           clock.at(range.end_ticks), range.thread, range.domain, range.name,
                                           range.depth});
    }
}

/// CUPTI's ids have 32 bits and may come again: the call that began last before the copy did is the one. The candidates are
/// by begin.
std::uint32_t TimelineBuilder::call_of(const DeviceActivity& activity) const {
    const auto found = by_correlation_.find(activity.record.correlation);
    if (found == by_correlation_.end()) {
        return kNone;
    }
    const std::vector<HostCall>& calls = model_.timeline->calls;
    const std::vector<std::uint32_t>& candidates = found->second;
    if (!activity.timed) {
        return candidates.front();
    }
    const auto behind =
        std::upper_bound(candidates.begin(), candidates.end(), activity.begin_ns,
                         [&](std::int64_t moment_ns, std::uint32_t call) { return moment_ns < calls[call].begin_ns; });
    return behind == candidates.begin() ? candidates.front() : *(behind - 1);
}

void TimelineBuilder::finish() {
    if (model_.timeline == nullptr) {
        return;
    }
    Timeline& timeline = *model_.timeline;
    timeline.begin_ns = model_.first_ns;
    timeline.end_ns = model_.last_ns;
    timeline.device_clock_known = !model_.index.device_clock.empty();
    for (auto& [correlation, candidates] : by_correlation_) {
        std::stable_sort(candidates.begin(), candidates.end(), [&](std::uint32_t a, std::uint32_t b) {
            return timeline.calls[a].begin_ns < timeline.calls[b].begin_ns;
        });
    }
    for (DeviceActivity& activity : timeline.activities) {
        if (activity.record.kind != ActivityKind::kKernel) {
            activity.call = call_of(activity);
            activity.owner = activity.call == kNone ? OwnerTable::kUnknown : timeline.calls[activity.call].owner;
        }
    }
    for (const auto& [activity, launch_id] : captured_) {
        const auto found = by_launch_id_.find(launch_id);
        timeline.activities[activity].captured_call = found == by_launch_id_.end() ? kNone : found->second;
    }
    finish_ranges();
    sort_timeline(timeline);
}

}  // namespace gpuspy::analysis

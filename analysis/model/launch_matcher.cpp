#include "analysis/model/launch_matcher.hpp"

#include <algorithm>
#include <limits>

namespace gpuspy::analysis {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

}  // namespace

/// Kernel records that must come for it.
std::uint64_t LaunchMatcher::Pending::expected() const {
    if (!launch.expects_records) {
        return 0;
    }
    switch (launch.kind) {
        case Launch::Kind::kGraph:
            return launch.graph == nullptr ? 0 : launch.graph->kernel_nodes;
        case Launch::Kind::kOther:
            return 0;
        default:
            return 1;
    }
}

/// Kernel records that may come for it.
std::uint64_t LaunchMatcher::Pending::most() const {
    switch (launch.kind) {
        case Launch::Kind::kKernel:
            return 1;
        case Launch::Kind::kGraph:
            return launch.graph == nullptr || launch.graph->conditional() ? kUnlimited : launch.graph->kernel_nodes;
        default:
            return kUnlimited;
    }
}

void LaunchMatcher::add_launch(const Launch& launch) {
    if (!launch.has_correlation) {
        if (!launch.expects_records) {
            count_untimed(launch);
        } else if (launch.kind != Launch::Kind::kOther) {
            uncorrelated_.push_back({launch, nullptr, 0, 0, 0, {}});
            model_.launches.expected += uncorrelated_.back().expected();
        }
        return;
    }
    Lane& lane = lane_of(launch);
    const std::uint64_t ordinal = ++lane.launches;
    if (launch.kind == Launch::Kind::kKernel && records_.empty() && launches_.count(launch.correlation) == 0 &&
        simple_.add(launch.correlation, {&lane, ordinal, launch.begin_ticks, launch.function, launch.owner,
                                         launch.timeline_call, launch.expects_records})) {
        model_.launches.expected += launch.expects_records ? 1 : 0;
        return;
    }
    Pending pending{launch, &lane, ordinal, 0, 0, {}};
    model_.launches.expected += pending.expected();
    auto [record, last] = records_.equal_range(launch.correlation);
    while (record != last) {
        record = take(pending, record->second) ? records_.erase(record) : std::next(record);
    }
    if (pending.arrived < pending.most()) {
        launches_.emplace(launch.correlation, std::move(pending));
    }
}

void LaunchMatcher::add_record(const ActivityRecord& activity, bool timed, std::uint32_t position) {
    ++model_.launches.device_records;
    const Record record{activity.name,       timed,   activity.has(abi::kDeviceGraph), activity.duration_ns,
                        activity.graph_node, position};
    if (simple_.holds(activity.correlation)) {
        const Simple simple = simple_.take(activity.correlation);
        note_arrived(*simple.lane, simple.ordinal, simple.expects_records);
        count_record(record, simple.owner, false);
        timeline_.link(position, simple.timeline_call, 0, simple.owner);
        return;
    }
    const auto [first, last] = launches_.equal_range(activity.correlation);
    for (auto pending = first; pending != last; ++pending) {
        if (take(pending->second, record)) {
            if (pending->second.arrived >= pending->second.most()) {
                launches_.erase(pending);
            }
            return;
        }
    }
    records_.emplace(activity.correlation, record);
}

bool LaunchMatcher::take(Pending& pending, const Record& record) {
    if (pending.arrived >= pending.most()) {
        return false;
    }
    std::uint32_t owner = pending.launch.owner;
    bool fallback = false;
    std::uint64_t captured_launch = 0;
    if (pending.launch.kind == Launch::Kind::kGraph) {
        fallback = true;
        const GraphVersion* graph = pending.launch.graph;
        const int position = graph != nullptr && record.in_graph ? graph->position_of(record.graph_node) : -1;
        if (position >= 0) {
            pending.nodes_seen.resize(graph->kernels.size());
            // A node runs once in a launch, unless it stands in the body of a conditional node.
            if (pending.nodes_seen[static_cast<std::size_t>(position)] && !graph->conditional()) {
                return false;
            }
            pending.nodes_seen[static_cast<std::size_t>(position)] = true;
            captured_launch = graph->kernels[static_cast<std::size_t>(position)].launch_id;
            const std::uint32_t captured = node_owner(captured_launch);
            if (captured != kNoOwner) {
                owner = captured;
                fallback = false;
            }
        } else {
            ++pending.by_count;
        }
    }
    ++pending.arrived;
    note_arrived(*pending.lane, pending.ordinal, pending.arrived <= pending.expected());
    count_record(record, owner, fallback);
    timeline_.link(record.activity, pending.launch.timeline_call, captured_launch, owner);
    return true;
}

void LaunchMatcher::note_arrived(Lane& lane, std::uint64_t ordinal, bool expected) {
    lane.last_arrived = std::max(lane.last_arrived, ordinal);
    ++(expected ? model_.launches.matched : model_.launches.matched_beyond);
}

LaunchMatcher::Lane& LaunchMatcher::lane_of(const Launch& launch) {
    const std::pair key(launch.thread, launch.stream);
    if (last_lane_ == nullptr || key != last_lane_key_) {
        last_lane_key_ = key;
        last_lane_ = &lanes_[key];
    }
    return *last_lane_;
}

void LaunchMatcher::count_record(const Record& record, std::uint32_t owner, bool fallback) {
    KnownStats& known = known_stats_[(record.name * 37 + owner) % known_stats_.size()];
    if (known.stats == nullptr || known.name != record.name || known.owner != owner) {
        known = {record.name, owner, &model_.kernels[{record.name, owner}]};
    }
    KernelStats& stats = *known.stats;
    ++stats.records;
    stats.owner_fallback += fallback ? 1 : 0;
    if (record.timed) {
        stats.duration_ns.add(record.duration_ns);
    }
}

void LaunchMatcher::count_untimed(const Launch& launch) {
    if (launch.kind == Launch::Kind::kGraph) {
        if (launch.graph != nullptr) {
            ++untimed_graphs_[{launch.graph, launch.owner}];
        }
    } else if (launch.kind != Launch::Kind::kOther) {
        ++model_.kernels[{name_of(launch.function, launch.begin_ticks), launch.owner}].untimed_launches;
    }
}

std::uint32_t LaunchMatcher::name_of(std::uint64_t function, std::uint64_t ticks) const {
    return model_.index.names.name_at(function, ticks).value_or(kNoName);
}

std::uint32_t LaunchMatcher::node_owner(std::uint64_t launch_id) {
    const auto [found, added] = node_owners_.try_emplace(launch_id, kNoOwner);
    if (added) {
        const auto captured = model_.index.captured.find(launch_id);
        if (captured != model_.index.captured.end()) {
            found->second = model_.owners.resolve(captured->second, model_.index.symbols, model_.index.objects);
        }
    }
    return found->second;
}

void LaunchMatcher::finish() {
    simple_.for_each([this](std::uint64_t correlation, const Simple& simple) { close(simple, correlation); });
    for (const auto& [correlation, pending] : launches_) {
        close(pending);
    }
    for (const Pending& pending : uncorrelated_) {
        const std::uint64_t before = model_.launches.unmatched_launches;
        close(pending);
        model_.launches.without_correlation += model_.launches.unmatched_launches - before;
    }
    for (const auto& [correlation, record] : records_) {
        if (model_.index.is_before_kept(correlation)) {
            ++model_.launches.launched_before_kept;
        } else {
            ++model_.launches.unmatched_records;
            ++model_.unmatched[record.name].records;
        }
        count_record(record, OwnerTable::kUnknown, false);
    }
    for (const auto& [key, count] : untimed_graphs_) {
        const auto& [graph, launcher] = key;
        for (const abi::GraphNode& node : graph->kernels) {
            const std::uint32_t captured = node_owner(node.launch_id);
            const std::uint32_t owner = captured != kNoOwner ? captured : launcher;
            model_.kernels[{name_of(node.function, graph->ticks), owner}].untimed_launches += count;
        }
    }
}

void LaunchMatcher::close(const Simple& simple, std::uint64_t correlation) {
    Launch launch;
    launch.expects_records = simple.expects_records;
    launch.has_correlation = true;
    launch.owner = simple.owner;
    launch.correlation = correlation;
    launch.begin_ticks = simple.begin_ticks;
    launch.function = simple.function;
    close({launch, simple.lane, simple.ordinal, 0, 0, {}});
}

void LaunchMatcher::close(const Pending& pending) {
    if (!pending.launch.expects_records && pending.arrived == 0) {
        count_untimed(pending.launch);
    }
    const std::uint64_t expected = pending.expected();
    if (pending.arrived >= expected) {
        return;
    }
    if (model_.index.kept && pending.launch.begin_ticks < model_.index.kept->ticks) {
        model_.launches.returned_before_kept += expected - pending.arrived;
        return;
    }
    // CUPTI returns the records of a lane in order. A record of a later launch says that this one's was lost; without
    // one, in a trace that ends without notice, it had not come back yet.
    const bool not_returned = pending.launch.has_correlation && !model_.index.ended_cleanly() &&
                              pending.ordinal >= pending.lane->last_arrived;
    std::uint64_t missing = expected - pending.arrived;
    (not_returned ? model_.launches.not_returned : model_.launches.unmatched_launches) += missing;
    if (pending.launch.kind != Launch::Kind::kGraph) {
        miss(name_of(pending.launch.function, pending.launch.begin_ticks), missing, not_returned);
        return;
    }
    const std::vector<abi::GraphNode>& nodes = pending.launch.graph->kernels;
    for (std::size_t position = 0; position < nodes.size() && missing > 0; ++position) {
        if (position >= pending.nodes_seen.size() || !pending.nodes_seen[position]) {
            miss(name_of(nodes[position].function, pending.launch.graph->ticks), 1, not_returned);
            --missing;
        }
    }
    if (missing > 0) {
        miss(kNoName, missing, not_returned);
    }
}

void LaunchMatcher::miss(std::uint32_t name, std::uint64_t count, bool not_returned) {
    UnmatchedKernel& kernel = model_.unmatched[name];
    (not_returned ? kernel.not_returned : kernel.launches) += count;
}

}  // namespace gpuspy::analysis

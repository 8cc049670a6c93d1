#include "analysis/model/selection.hpp"

#include <algorithm>
#include <unordered_map>

namespace gpuspy::analysis {
namespace {

/// Puts the calls that are `inside` into `part`, behind those that its activities follow from, and mends all links.
template <class Inside>
void select_calls(const Timeline& timeline, const Inside& inside, Timeline& part) {
    std::vector<bool> needed(timeline.calls.size(), false);
    const auto need = [&](std::uint32_t call) {
        for (; call != kNone && !needed[call]; call = timeline.calls[call].parent) {
            needed[call] = true;
        }
    };
    for (const DeviceActivity& activity : part.activities) {
        need(activity.call);
        need(activity.captured_call);
    }
    std::vector<std::uint32_t> position(timeline.calls.size(), kNone);
    for (const bool own : {false, true}) {
        part.first_call = static_cast<std::uint32_t>(part.calls.size());
        for (std::uint32_t at = 0; at < timeline.calls.size(); ++at) {
            if (inside(timeline.calls[at].begin_ns) == own && (own || needed[at])) {
                position[at] = static_cast<std::uint32_t>(part.calls.size());
                part.calls.push_back(timeline.calls[at]);
            }
        }
    }
    const auto follow = [&](std::uint32_t& link) { link = link == kNone ? kNone : position[link]; };
    for (HostCall& call : part.calls) {
        follow(call.parent);
        follow(call.library);
    }
    for (DeviceActivity& activity : part.activities) {
        follow(activity.call);
        follow(activity.captured_call);
    }
}

}  // namespace

Timeline select(const Model& model, const Timeline& timeline, const Selection& selection) {
    Timeline part;
    part.device_clock_known = timeline.device_clock_known;
    part.unpaired_ranges = timeline.unpaired_ranges;
    part.begin_ns = timeline.begin_ns + std::max<std::int64_t>(0, selection.from_ns.value_or(0));
    part.end_ns = selection.to_ns ? std::min(timeline.end_ns, timeline.begin_ns + *selection.to_ns) : timeline.end_ns;
    part.begin_ns = std::min(part.begin_ns, timeline.end_ns);
    part.end_ns = std::max(part.begin_ns, part.end_ns);
    const bool by_time = selection.from_ns || selection.to_ns;
    // The last moment belongs to the range where the range ends with the recording.
    const auto inside = [&](std::int64_t moment_ns) {
        return !by_time || (moment_ns >= part.begin_ns &&
                            (moment_ns < part.end_ns || (moment_ns == part.end_ns && part.end_ns == timeline.end_ns)));
    };

    const auto reaches_into = [&](const DeviceActivity& activity) {
        return inside(activity.begin_ns) || (activity.begin_ns < part.begin_ns && activity.end_ns > part.begin_ns);
    };

    for (const HostRange& range : timeline.ranges) {
        if (inside(range.begin_ns)) {
            part.ranges.push_back(range);
        }
    }
    // What is allocated at a time depends on all that came before.
    for (const MemoryEvent& event : timeline.memory) {
        if (event.at_ns <= part.end_ns) {
            part.memory.push_back(event);
        }
    }

    std::unordered_map<std::uint32_t, bool> wanted;  // by name
    const auto wants = [&](const ActivityRecord& record) {
        if (selection.wants_kernel == nullptr) {
            return true;
        }
        if (record.kind != ActivityKind::kKernel) {
            return false;
        }
        const auto [found, added] = wanted.try_emplace(record.name);
        if (added) {
            found->second = selection.wants_kernel(model.kernel_name(record.name));
        }
        return found->second;
    };
    for (const DeviceActivity& activity : timeline.activities) {
        const ActivityRecord& record = activity.record;
        if ((selection.device && record.device != *selection.device) ||
            (selection.stream && record.stream != *selection.stream) || !wants(record) ||
            (by_time && !(activity.timed && timeline.device_clock_known && reaches_into(activity)))) {
            continue;
        }
        part.activities.push_back(activity);
        part.selected_from.push_back(static_cast<std::uint32_t>(&activity - timeline.activities.data()));
    }
    const std::int64_t calls_begin_ns = timeline.begin_ns + selection.calls_from_ns.value_or(0);
    const std::int64_t calls_end_ns = timeline.begin_ns + selection.calls_to_ns.value_or(0);
    const auto call_inside = [&](std::int64_t moment_ns) {
        return selection.calls_from_ns && selection.calls_to_ns
                   ? moment_ns >= calls_begin_ns && moment_ns <= calls_end_ns
                   : inside(moment_ns);
    };
    select_calls(timeline, call_inside, part);
    return part;
}

}  // namespace gpuspy::analysis

#include "analysis/passes/latency.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace gpuspy::analysis {
namespace {

/// The outermost of the calls that launch, or copy, around one: what the program called.
const HostCall& outermost_call(const Model& model, const Timeline& timeline, std::uint32_t position) {
    const auto gives_work = [&](std::uint32_t at) {
        const ApiInfo& api = model.index.symbols.api(timeline.calls[at].api);
        return api.launches() || api.api_class == abi::ApiClass::kCopy || api.api_class == abi::ApiClass::kSet;
    };
    for (std::uint32_t around = timeline.calls[position].parent; around != kNone && gives_work(around);
         around = timeline.calls[around].parent) {
        position = around;
    }
    return timeline.calls[position];
}

bool is_graph_launch(const Model& model, const HostCall& call) {
    return model.index.symbols.api(call.api).api_class == abi::ApiClass::kGraphLaunch;
}

/// Of each graph launch, its kernel that began first.
std::unordered_map<std::uint32_t, const DeviceActivity*> first_kernels(const Model& model, const Timeline& timeline) {
    std::unordered_map<std::uint32_t, const DeviceActivity*> first;
    for (const DeviceActivity& activity : timeline.activities) {
        if (activity.record.kind != ActivityKind::kKernel || activity.call == kNone || !activity.timed ||
            !is_graph_launch(model, timeline.calls[activity.call])) {
            continue;
        }
        const DeviceActivity*& known = first[activity.call];
        if (known == nullptr || activity.begin_ns < known->begin_ns) {
            known = &activity;
        }
    }
    return first;
}

std::uint64_t length_ns(std::int64_t begin_ns, std::int64_t end_ns) {
    return end_ns > begin_ns ? static_cast<std::uint64_t>(end_ns - begin_ns) : 0;
}

struct Group {
    std::uint64_t count = 0, launches = 0, queued = 0, early = 0;
    Samples total, api, queue, kernel;

    void add_launch(const HostCall& call, const DeviceActivity& activity, bool clock_known) {
        ++launches;
        api.add(call.duration_ns());
        if (!activity.timed || !clock_known) {
            return;
        }
        total.add(length_ns(call.begin_ns, activity.end_ns));
        if (activity.begin_ns > call.end_ns) {
            ++queued;
            queue.add(length_ns(call.end_ns, activity.begin_ns));
        } else if (activity.begin_ns < call.end_ns) {
            ++early;
        }
    }
};

}  // namespace

Latencies latencies(const Model& model, const Timeline& timeline) {
    Latencies result;
    const auto first = first_kernels(model, timeline);
    std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint32_t>, Group> groups;
    for (const DeviceActivity& activity : timeline.activities) {
        if (activity.record.kind != ActivityKind::kKernel) {
            continue;
        }
        result.untimed += activity.timed ? 0 : 1;
        if (activity.call == kNone) {
            ++result.without_launch;
            continue;
        }
        const HostCall& call = outermost_call(model, timeline, activity.call);
        Group& group = groups[{call.thread, activity.record.device, call.api, activity.record.name}];
        ++group.count;
        if (activity.timed) {
            group.kernel.add(activity.record.duration_ns);
        }
        const auto of_graph = first.find(activity.call);
        if (!is_graph_launch(model, timeline.calls[activity.call]) ||
            (of_graph != first.end() && of_graph->second == &activity)) {
            group.add_launch(call, activity, timeline.device_clock_known);
        }
    }
    for (const auto& [key, group] : groups) {
        const auto& [thread, device, api, name] = key;
        KernelLatency& row = result.kernels.emplace_back();
        row.tid = model.index.symbols.threads()[thread].tid;
        row.device = device;
        row.call = model.index.symbols.api(api).name;
        row.mangled = model.kernel_name(name);
        row.count = group.count;
        row.launches = group.launches;
        row.queued = group.queued;
        row.early = group.early;
        row.total = duration_stats(group.total);
        row.api = duration_stats(group.api);
        row.queue = duration_stats(group.queue);
        row.kernel = duration_stats(group.kernel);
    }
    std::stable_sort(result.kernels.begin(), result.kernels.end(), [](const KernelLatency& a, const KernelLatency& b) {
        return std::tie(b.total.time_ns, b.kernel.time_ns) < std::tie(a.total.time_ns, a.kernel.time_ns);
    });
    return result;
}

std::map<std::uint64_t, QueueSteps> queue_steps(const Model& model, const Timeline& timeline) {
    std::map<std::uint64_t, QueueSteps> devices;
    for (const DeviceActivity& activity : timeline.activities) {
        if (activity.call == kNone || !activity.timed || !timeline.device_clock_known) {
            continue;
        }
        const std::int64_t given_ns =
            std::min(outermost_call(model, timeline, activity.call).end_ns, activity.begin_ns);
        QueueSteps& steps = devices[activity.record.device];
        steps.waiting.push_back({given_ns, 1});
        steps.waiting.push_back({activity.begin_ns, -1});
        steps.unfinished.push_back({given_ns, 1});
        steps.unfinished.push_back({activity.end_ns, -1});
    }
    return devices;
}

std::vector<QueueDepth> queue_depths(const Model& model, const Timeline& timeline) {
    std::vector<QueueDepth> rows;
    for (auto& [device, steps] : queue_steps(model, timeline)) {
        rows.push_back({device, step_series(std::move(steps.waiting), timeline.begin_ns, timeline.end_ns),
                        step_series(std::move(steps.unfinished), timeline.begin_ns, timeline.end_ns)});
    }
    return rows;
}

}  // namespace gpuspy::analysis

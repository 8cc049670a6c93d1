#include "analysis/passes/sync_sites.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "analysis/passes/copies.hpp"
#include "analysis/passes/overlaps.hpp"
#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

/// A kernel by name, or copies by direction.
struct ActivityName {
    ActivityKind kind;
    std::uint64_t name;
    friend auto operator<=>(const ActivityName&, const ActivityName&) = default;
};
using TimeByName = std::map<ActivityName, std::uint64_t>;

ActivityName name_of(const ActivityRecord& record) {
    return {record.kind, record.kind == ActivityKind::kKernel ? record.name : record.copy_kind};
}

GpuMeanwhile meanwhile(const Model& model, const TimeByName& times, std::uint64_t busy_ns, std::uint64_t time_ns) {
    GpuMeanwhile result{busy_ns, ratio(busy_ns, time_ns), std::nullopt};
    for (const auto& [activity, ran_ns] : times) {
        if (!result.longest || ran_ns > result.longest->time_ns) {
            const bool kernel = activity.kind == ActivityKind::kKernel;
            result.longest = {kernel ? model.kernel_name(static_cast<std::uint32_t>(activity.name)) : std::string(),
                              kernel ? std::string() : direction_name(activity.name), ran_ns};
        }
    }
    return result;
}

WaitKind kind_of(const ApiInfo& api) {
    switch (api.api_class) {
        case abi::ApiClass::kCopy:
        case abi::ApiClass::kSet:
            return WaitKind::kCopy;
        case abi::ApiClass::kMemory:
            return api.name.find("Free") != std::string::npos || api.name.find("Unregister") != std::string::npos
                       ? WaitKind::kFree
                       : WaitKind::kAllocate;
        default:
            return WaitKind::kSynchronise;
    }
}

/// Waits of a site or of a thread, and what ran during them.
struct Group {
    std::uint64_t count = 0, max_ns = 0, outlasted = 0;
    std::map<std::uint32_t, IntervalSet> by_thread;
    TimeByName ran;

    [[nodiscard]] std::uint64_t time_ns() const {
        std::uint64_t total = 0;
        for (const auto& [thread, waiting] : by_thread) {
            total += waiting.length_ns();
        }
        return total;
    }
    [[nodiscard]] std::uint64_t busy_ns(const IntervalSet& busy) const {
        std::uint64_t total = 0;
        for (const auto& [thread, waiting] : by_thread) {
            total += overlap_ns(waiting, busy);
        }
        return total;
    }
};

class Collector {
public:
    Collector(const Model& model, const Timeline& timeline)
        : model_(model), timeline_(timeline), overlaps_(timeline), busy_(busy_time(timeline)) {}

    void add_wait(const HostCall& call) {
        SyncWait& wait = result_.waits.emplace_back();
        wait.begin_ns = call.begin_ns;
        wait.duration_ns = call.duration_ns();
        wait.tid = model_.index.symbols.threads()[call.thread].tid;
        wait.call = model_.index.symbols.api(call.api).name;
        wait.site = model_.owners.at(call.site).name;
        Group& site = sites_[{call.api, call.site}];
        ++site.count;
        site.max_ns = std::max(site.max_ns, call.duration_ns());
        site.by_thread[call.thread].add(call.begin_ns, std::min(call.end_ns, timeline_.end_ns));
        Group& thread = threads_[call.thread];
        ++thread.count;
        thread.by_thread[call.thread].add(call.begin_ns, std::min(call.end_ns, timeline_.end_ns));
        if (timeline_.device_clock_known) {
            wait.gpu = look(call, site);
        }
    }

    SyncSites finish() {
        const bool known = timeline_.device_clock_known;
        for (const auto& [key, group] : sites_) {
            const auto& [api, object] = key;
            SyncSite& site = result_.sites.emplace_back();
            const ApiInfo& info = model_.index.symbols.api(api);
            site.call = info.name;
            site.site = model_.owners.at(object).name;
            site.kind = kind_of(info);
            site.count = group.count;
            site.time_ns = group.time_ns();
            site.max_ns = group.max_ns;
            site.share_of_wall = ratio(site.time_ns, timeline_.wall_ns());
            if (known) {
                site.gpu = meanwhile(model_, group.ran, group.busy_ns(busy_), site.time_ns);
                site.outlasted = group.outlasted;
            }
        }
        for (const auto& [number, group] : threads_) {
            const ThreadInfo& info = model_.index.symbols.threads()[number];
            result_.threads.push_back({info.tid, info.name, group.count, group.time_ns(),
                                       ratio(group.time_ns(), timeline_.wall_ns()),
                                       known ? std::optional(group.busy_ns(busy_)) : std::nullopt});
        }
        std::stable_sort(result_.waits.begin(), result_.waits.end(),
                         [](const SyncWait& a, const SyncWait& b) { return a.duration_ns > b.duration_ns; });
        const auto longest_first = [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; };
        std::stable_sort(result_.sites.begin(), result_.sites.end(), longest_first);
        std::stable_sort(result_.threads.begin(), result_.threads.end(), longest_first);
        return std::move(result_);
    }

private:
    /// What the devices did during the call; adds it to the site.
    GpuMeanwhile look(const HostCall& call, Group& site) {
        std::map<ActivityName, IntervalSet> ran;
        IntervalSet covered;
        bool running = false, all_ended = true;
        for (const DeviceActivity* activity : overlaps_.with(call.begin_ns, call.end_ns)) {
            const std::int64_t begin_ns = std::max(call.begin_ns, activity->begin_ns);
            const std::int64_t end_ns = std::min(call.end_ns, activity->end_ns);
            covered.add(begin_ns, end_ns);
            ran[name_of(activity->record)].add(begin_ns, end_ns);
            if (activity->begin_ns <= call.begin_ns) {
                running = true;
                all_ended = all_ended && activity->end_ns <= call.end_ns;
            }
        }
        TimeByName times;
        for (const auto& [name, intervals] : ran) {
            times[name] = intervals.length_ns();
            site.ran[name] += times[name];
        }
        site.outlasted += running && all_ended ? 1 : 0;
        return meanwhile(model_, times, covered.length_ns(), call.duration_ns());
    }

    const Model& model_;
    const Timeline& timeline_;
    Overlaps overlaps_;
    IntervalSet busy_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Group> sites_;  // by API, shared object
    std::map<std::uint32_t, Group> threads_;
    SyncSites result_;
};

bool is_pageable(const ActivityRecord& record) {
    constexpr std::uint32_t kPageable = 1;  // CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE (cupti_activity.h)
    return record.kind == ActivityKind::kMemcpy &&
           (record.source_memory == kPageable || record.destination_memory == kPageable);
}

/// The outermost copy call around `position`; kNone if a blocking call is around it.
std::uint32_t asynchronous_copy(const Model& model, const Timeline& timeline, std::uint32_t position) {
    std::uint32_t outermost = position;
    for (std::uint32_t at = position; at != kNone; at = timeline.calls[at].parent) {
        const ApiInfo& api = model.index.symbols.api(timeline.calls[at].api);
        if (api.blocking()) {
            return kNone;
        }
        outermost = api.api_class == abi::ApiClass::kCopy ? at : outermost;
    }
    return model.index.symbols.api(timeline.calls[outermost].api).api_class == abi::ApiClass::kCopy ? outermost : kNone;
}

std::vector<PageableCopies> pageable_copies(const Model& model, const Timeline& timeline) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, PageableCopies> groups;
    std::unordered_set<std::uint32_t> counted;  // a call may have several records
    for (const DeviceActivity& activity : timeline.activities) {
        if (activity.call == kNone || !is_pageable(activity.record)) {
            continue;
        }
        const std::uint32_t position = asynchronous_copy(model, timeline, activity.call);
        if (position == kNone) {
            continue;
        }
        const HostCall& call = timeline.calls[position];
        const ApiInfo& api = model.index.symbols.api(call.api);
        PageableCopies& group = groups[{call.api, call.site, activity.record.copy_kind}];
        group.call = api.name;
        group.site = model.owners.at(call.site).name;
        group.direction = direction_name(activity.record.copy_kind);
        ++group.count;
        group.time_ns += counted.insert(position).second ? call.duration_ns() : 0;
        if (timeline.device_clock_known && activity.timed) {
            const bool waited = call.end_ns >= activity.end_ns;
            group.waited = group.waited.value_or(0) + (waited ? 1 : 0);
            group.waited_ns = group.waited_ns.value_or(0) + (waited ? call.duration_ns() : 0);
        }
    }
    std::vector<PageableCopies> rows;
    for (auto& [key, group] : groups) {
        rows.push_back(std::move(group));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const PageableCopies& a, const PageableCopies& b) { return a.time_ns > b.time_ns; });
    return rows;
}

}  // namespace

SyncSites sync_sites(const Model& model, const Timeline& timeline) {
    Collector collector(model, timeline);
    for (const HostCall& call : timeline.own_calls()) {
        if (call.outermost_blocking) {
            collector.add_wait(call);
        }
    }
    SyncSites result = collector.finish();
    result.pageable = pageable_copies(model, timeline);
    return result;
}

}  // namespace gpuspy::analysis

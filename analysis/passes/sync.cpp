#include "analysis/passes/sync.hpp"

#include <algorithm>
#include <map>

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

/// When any device was busy, in the host's time.
IntervalSet busy_in_host_time(const Model& model) {
    IntervalSet result;
    for (const auto& [ordinal, device] : model.devices) {
        for (const Interval& interval : device.busy.merged()) {
            result.add(model.index.device_clock.at(static_cast<std::uint64_t>(interval.begin_ns)),
                       model.index.device_clock.at(static_cast<std::uint64_t>(interval.end_ns)));
        }
    }
    return result;
}

}  // namespace

Sync synchronisation(const Model& model) {
    Sync result;
    result.gpu_known = !model.index.device_clock.empty();
    const IntervalSet busy = result.gpu_known ? busy_in_host_time(model) : IntervalSet{};
    const std::uint64_t wall_ns = model.wall_ns();
    std::map<std::uint32_t, SyncCall> calls;
    IntervalSet any_thread;
    for (std::size_t number = 0; number < model.threads.size(); ++number) {
        IntervalSet waiting;
        for (const auto& [api, intervals] : model.threads[number].waiting) {
            waiting.add(intervals);
            SyncCall& call = calls[api];
            call.time_ns += intervals.length_ns();
            call.gpu_busy_ns += overlap_ns(intervals, busy);
        }
        const std::uint64_t time_ns = waiting.length_ns();
        if (time_ns == 0) {
            continue;
        }
        const ThreadInfo& info = model.index.symbols.threads()[number];
        result.threads.push_back({info.tid, info.name, time_ns, ratio(time_ns, wall_ns)});
        result.time_ns += time_ns;
        result.gpu_busy_ns += overlap_ns(waiting, busy);
        any_thread.add(waiting);
    }
    result.share_of_wall = ratio(result.time_ns, wall_ns);
    result.any_thread_ns = any_thread.length_ns();
    result.gpu_idle_ns = result.gpu_known ? result.time_ns - result.gpu_busy_ns : 0;
    for (auto& [api, call] : calls) {
        call.name = model.index.symbols.api(api).name;
        call.library = model.index.symbols.api(api).library;
        call.share_of_wall = ratio(call.time_ns, wall_ns);
        result.calls.push_back(std::move(call));
    }
    const auto longest_first = [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; };
    std::stable_sort(result.threads.begin(), result.threads.end(), longest_first);
    std::stable_sort(result.calls.begin(), result.calls.end(), longest_first);
    return result;
}

}  // namespace gpuspy::analysis

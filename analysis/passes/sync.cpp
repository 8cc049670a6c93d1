#include "analysis/passes/sync.hpp"

#include <algorithm>

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
Sync synchronisation(const Model& model) {
    Sync result;
    result.gpu_known = !model.index.device_clock.empty();
    const std::uint64_t wall_ns = model.wall_ns();
    for (const auto& [number, waiting] : model.waiting.by_thread()) {
        if (waiting.time_ns == 0) {
            continue;
        }
        const ThreadInfo& info = model.index.symbols.threads()[number];
        result.threads.push_back({info.tid, info.name, waiting.time_ns, ratio(waiting.time_ns, wall_ns)});
        result.time_ns += waiting.time_ns;
        result.gpu_busy_ns += waiting.gpu_busy_ns;
    }
    result.share_of_wall = ratio(result.time_ns, wall_ns);
    result.any_thread_ns = model.waiting.any_thread().time_ns;
    result.gpu_idle_ns = result.gpu_known ? result.time_ns - result.gpu_busy_ns : 0;
    for (const auto& [api, waiting] : model.waiting.by_api()) {
        SyncCall& call = result.calls.emplace_back();
        call.name = model.index.symbols.api(api).name;
        call.library = model.index.symbols.api(api).library;
        call.time_ns = waiting.time_ns;
        call.gpu_busy_ns = waiting.gpu_busy_ns;
        call.share_of_wall = ratio(call.time_ns, wall_ns);
    }
    const auto longest_first = [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; };
    std::stable_sort(result.threads.begin(), result.threads.end(), longest_first);
    std::stable_sort(result.calls.begin(), result.calls.end(), longest_first);
    return result;
}

}  // namespace gpuspy::analysis

#include "analysis/passes/thread_calls.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {

std::vector<CallRow> call_table(const Model& model, const Timeline& timeline) {
    struct Group {
        Samples durations;
        std::uint64_t failed = 0, outermost = 0;
    };
    std::map<std::uint32_t, Group> groups;
    for (const HostCall& call : timeline.own_calls()) {
        Group& group = groups[call.api];
        group.durations.add(call.duration_ns());
        group.failed += call.has(abi::kCallStatus) ? 1 : 0;
        group.outermost += timeline.is_outermost(call) ? 1 : 0;
    }
    std::vector<CallRow> rows;
    for (const auto& [api, group] : groups) {
        const ApiInfo& info = model.index.symbols.api(api);
        rows.push_back({info.name, info.library, group.durations.count(), group.failed, group.outermost,
                        duration_stats(group.durations)});
    }
    std::sort(rows.begin(), rows.end(), [](const CallRow& a, const CallRow& b) {
        return std::tie(b.duration.time_ns, b.count, a.name, a.library) <
               std::tie(a.duration.time_ns, a.count, b.name, b.library);
    });
    return rows;
}

std::vector<ThreadCalls> thread_table(const Model& model, const Timeline& timeline) {
    struct Group {
        ThreadCalls row;
        IntervalSet api, sync;
    };
    std::map<std::uint32_t, Group> groups;
    for (const HostCall& call : timeline.own_calls()) {
        Group& group = groups[call.thread];
        ++group.row.calls;
        group.row.launches += call.is_launch ? 1 : 0;
        group.row.failed += call.has(abi::kCallStatus) ? 1 : 0;
        // Not beyond the range; where calls have a range of their own, by as much as it lasts.
        const std::int64_t end_ns =
            call.begin_ns < timeline.end_ns ? std::min(call.end_ns, timeline.end_ns) : call.end_ns;
        if (timeline.is_outermost(call)) {
            group.api.add(call.begin_ns, end_ns);
        }
        if (call.outermost_blocking) {
            group.sync.add(call.begin_ns, end_ns);
        }
    }
    std::vector<ThreadCalls> rows;
    for (auto& [thread, group] : groups) {
        const ThreadInfo& info = model.index.symbols.threads()[thread];
        group.row.tid = info.tid;
        group.row.name = info.name;
        group.row.api_ns = group.api.length_ns();
        group.row.sync_ns = group.sync.length_ns();
        group.row.api_share_of_wall = ratio(group.row.api_ns, timeline.wall_ns());
        group.row.sync_share_of_wall = ratio(group.row.sync_ns, timeline.wall_ns());
        rows.push_back(std::move(group.row));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const ThreadCalls& a, const ThreadCalls& b) { return a.api_ns > b.api_ns; });
    return rows;
}

std::vector<LibraryCallRow> library_call_table(const Model& model, const Timeline& timeline) {
    std::map<std::uint32_t, LibraryCallRow> groups;  // by API
    for (std::uint32_t position = timeline.first_call; position < timeline.calls.size(); ++position) {
        const HostCall& call = timeline.calls[position];
        if (call.library == position) {
            LibraryCallRow& row = groups[call.api];
            ++row.count;
            row.host_ns += call.duration_ns();
        }
    }
    std::uint64_t all_ns = 0;
    for (const DeviceActivity& activity : timeline.activities) {
        const std::uint64_t duration_ns = activity.timed ? activity.record.duration_ns : 0;
        all_ns += duration_ns;
        const std::uint32_t launched_by = activity.captured_call != kNone ? activity.captured_call : activity.call;
        const std::uint32_t library = launched_by == kNone ? kNone : timeline.calls[launched_by].library;
        if (library == kNone) {
            continue;
        }
        LibraryCallRow& row = groups[timeline.calls[library].api];
        ++(activity.record.kind == ActivityKind::kKernel ? row.kernels : row.copies);
        row.gpu_ns += duration_ns;
    }
    std::vector<LibraryCallRow> rows;
    for (auto& [api, row] : groups) {
        row.name = model.index.symbols.api(api).name;
        row.library = model.index.symbols.api(api).library;
        row.share_of_gpu = ratio(row.gpu_ns, all_ns);
        rows.push_back(std::move(row));
    }
    std::sort(rows.begin(), rows.end(), [](const LibraryCallRow& a, const LibraryCallRow& b) {
        return std::tie(b.gpu_ns, b.host_ns, a.name, a.library) < std::tie(a.gpu_ns, a.host_ns, b.name, b.library);
    });
    return rows;
}

}  // namespace gpuspy::analysis

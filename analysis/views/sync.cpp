#include <fmt/format.h>

#include "analysis/passes/default_stream.hpp"
#include "analysis/passes/sync_sites.hpp"
#include "analysis/views/cells.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

std::string kind_name(WaitKind kind) {
    switch (kind) {
        case WaitKind::kSynchronise:
            return "asked";
        case WaitKind::kCopy:
            return "implicit: copy";
        case WaitKind::kAllocate:
            return "implicit: allocation";
        case WaitKind::kFree:
            return "implicit: free";
    }
    return {};
}

Cell longest_name(const std::optional<GpuMeanwhile>& gpu, NameForm form) {
    if (!gpu || !gpu->longest) {
        return {};
    }
    return gpu->longest->mangled.empty() ? "[" + gpu->longest->direction + "]"
                                         : kernel_name(gpu->longest->mangled, form);
}

/// GPU busy, idle and what ran longest, of rows with `gpu`.
template <class Row>
std::vector<ColumnOf<Row>> gpu_columns(NameForm form) {
    return {
        {"gpu_busy_ns", "GPU busy", Unit::kDurationNs,
         [](const Row& row) { return row.gpu ? Cell{row.gpu->busy_ns} : Cell{}; }},
        {"gpu_busy_share", "% busy", Unit::kShare,
         [](const Row& row) { return row.gpu ? Cell{row.gpu->busy_share} : Cell{}; }},
        {"longest_ns", "longest", Unit::kDurationNs,
         [](const Row& row) { return row.gpu && row.gpu->longest ? Cell{row.gpu->longest->time_ns} : Cell{}; }},
        {"longest", "ran longest meanwhile", Unit::kName, [=](const Row& row) { return longest_name(row.gpu, form); }},
    };
}

Table site_table(const ViewInput& input, const SyncSites& sync) {
    using Row = SyncSite;
    std::vector<ColumnOf<Row>> columns = {
        {"time_ns", "time", Unit::kDurationNs, [](const Row& row) { return row.time_ns; }},
        {"share_of_wall", "% wall", Unit::kShare, [](const Row& row) { return row.share_of_wall; }},
        {"count", "count", Unit::kCount, [](const Row& row) { return row.count; }},
        {"max_ns", "max", Unit::kDurationNs, [](const Row& row) { return row.max_ns; }},
        {"outlasted", "outlasted", Unit::kCount, [](const Row& row) { return cell_of(row.outlasted); }},
        {"kind", "kind", Unit::kText, [](const Row& row) { return kind_name(row.kind); }},
        {"call", "call", Unit::kText, [](const Row& row) { return row.call; }},
        {"site", "called by", Unit::kText, [](const Row& row) { return row.site; }},
    };
    const auto gpu = gpu_columns<Row>(input.options.names);
    columns.insert(columns.end(), gpu.begin(), gpu.end());
    return make_table(
        "sites", "Waits for the device",
        "outermost blocking calls; outlasted: returned after all that ran when they were called had ended", columns,
        sync.sites);
}

Table thread_table(const SyncSites& sync) {
    using Row = SyncThreadUse;
    return make_table<Row>(
        "threads", "Threads that waited", "",
        {
            {"tid", "thread", Unit::kCount, [](const Row& row) { return std::uint64_t{row.tid}; }},
            {"time_ns", "time", Unit::kDurationNs, [](const Row& row) { return row.time_ns; }},
            {"share_of_wall", "% wall", Unit::kShare, [](const Row& row) { return row.share_of_wall; }},
            {"count", "waits", Unit::kCount, [](const Row& row) { return row.count; }},
            {"gpu_busy_ns", "GPU busy", Unit::kDurationNs, [](const Row& row) { return cell_of(row.gpu_busy_ns); }},
            {"name", "name", Unit::kText, [](const Row& row) { return row.name; }},
        },
        sync.threads);
}

Table wait_table(const ViewInput& input, const SyncSites& sync) {
    using Row = SyncWait;
    std::vector<ColumnOf<Row>> columns = {
        {"at_ns", "at", Unit::kMomentNs, [&](const Row& row) { return moment_cell(input.model, row.begin_ns); }},
        {"duration_ns", "duration", Unit::kDurationNs, [](const Row& row) { return row.duration_ns; }},
        {"tid", "thread", Unit::kCount, [](const Row& row) { return std::uint64_t{row.tid}; }},
        {"call", "call", Unit::kText, [](const Row& row) { return row.call; }},
        {"site", "called by", Unit::kText, [](const Row& row) { return row.site; }},
    };
    const auto gpu = gpu_columns<Row>(input.options.names);
    columns.insert(columns.end(), gpu.begin(), gpu.end());
    return make_table("waits", "Longest waits", "", columns, sync.waits);
}

Table pageable_table(const SyncSites& sync) {
    using Row = PageableCopies;
    return make_table<Row>(
        "pageable_copies", "Asynchronous copies of pageable memory",
        "not in the synchronisation time; waited: returned after their copy had ended on the device",
        {
            {"time_ns", "time", Unit::kDurationNs, [](const Row& row) { return row.time_ns; }},
            {"count", "count", Unit::kCount, [](const Row& row) { return row.count; }},
            {"waited", "waited", Unit::kCount, [](const Row& row) { return cell_of(row.waited); }},
            {"waited_ns", "time waited", Unit::kDurationNs, [](const Row& row) { return cell_of(row.waited_ns); }},
            {"direction", "direction", Unit::kText, [](const Row& row) { return row.direction; }},
            {"call", "call", Unit::kText, [](const Row& row) { return row.call; }},
            {"site", "called by", Unit::kText, [](const Row& row) { return row.site; }},
        },
        sync.pageable);
}

Table default_stream_table(const DefaultStream& found) {
    using Row = DefaultStreamWait;
    Table table = make_table<Row>(
        "default_stream", "Work in turn with the legacy default stream",
        "ready, but begun only after the other stream's work had ended; events and a full GPU look the same",
        {
            {"time_ns", "time", Unit::kDurationNs, [](const Row& row) { return row.time_ns; }},
            {"count", "count", Unit::kCount, [](const Row& row) { return row.count; }},
            {"device", "device", Unit::kCount, [](const Row& row) { return row.device; }},
            {"waiting_stream", "stream", Unit::kCount, [](const Row& row) { return row.waiting_stream; }},
            {"ran_stream", "began after", Unit::kCount, [](const Row& row) { return row.ran_stream; }},
            {"default_is", "default stream", Unit::kText,
             [](const Row& row) { return std::string(row.default_waited ? "waited" : "was waited for"); }},
        },
        found.waits);
    if (found.activities != 0) {
        table.notes.push_back(fmt::format("{} activities ran on the legacy default stream", found.activities));
    }
    return table;
}

}  // namespace

std::vector<Table> sync_view(const ViewInput& input) {
    const SyncSites sync = sync_sites(input.model, input.timeline);
    return {site_table(input, sync), thread_table(sync), wait_table(input, sync), pageable_table(sync),
            default_stream_table(default_stream(input.timeline))};
}

}  // namespace gpuspy::analysis

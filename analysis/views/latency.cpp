#include <fmt/format.h>

#include "analysis/passes/latency.hpp"
#include "analysis/views/cells.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

using Row = KernelLatency;
using Columns = std::vector<ColumnOf<Row>>;

/// One number of one of a row's durations.
template <class Value>
ColumnOf<Row> duration_column(const char* name, const char* title, DurationStats Row::*of,
                              Value DurationStats::*value) {
    return {name, title, Unit::kDurationNs,
            [=](const Row& row) { return (row.*of).timed == 0 ? Cell{} : Cell{(row.*of).*value}; }};
}

Columns what_columns(NameForm names) {
    return {
        {"call", "call", Unit::kText, [](const Row& row) { return row.call; }},
        {"name", "kernel", Unit::kName, [=](const Row& row) { return kernel_name(row.mangled, names); }},
    };
}

Columns count_columns() {
    return {
        {"tid", "thread", Unit::kCount, [](const Row& row) { return std::uint64_t{row.tid}; }},
        {"device", "GPU", Unit::kCount, [](const Row& row) { return row.device; }},
        {"count", "count", Unit::kCount, [](const Row& row) { return row.count; }},
        {"queued", "queued", Unit::kCount, [](const Row& row) { return row.queued; }},
        {"early", "early", Unit::kCount, [](const Row& row) { return row.early; }},
    };
}

void append(Columns& columns, const Columns& more) {
    columns.insert(columns.end(), more.begin(), more.end());
}

Table kernel_table(const ViewInput& input, const Latencies& found) {
    Columns columns = count_columns();
    append(columns, {
                        duration_column("total_ns", "total", &Row::total, &DurationStats::time_ns),
                        duration_column("api_med_ns", "call med", &Row::api, &DurationStats::med_ns),
                        duration_column("queue_med_ns", "queue med", &Row::queue, &DurationStats::med_ns),
                        duration_column("kernel_med_ns", "kernel med", &Row::kernel, &DurationStats::med_ns),
                        duration_column("api_max_ns", "call max", &Row::api, &DurationStats::max_ns),
                        duration_column("queue_max_ns", "queue max", &Row::queue, &DurationStats::max_ns),
                    });
    append(columns, what_columns(input.options.names));
    Table table =
        make_table("kernels", "Kernels from launch to end",
                   "queued: began after their call had returned; early: before; total: from the call to the end",
                   columns, found.kernels);
    if (found.without_launch != 0) {
        table.notes.push_back(fmt::format("{} kernels whose launch is not known are left out", found.without_launch));
    }
    if (found.untimed != 0) {
        table.notes.push_back(fmt::format("{} kernels have no usable time", found.untimed));
    }
    if (!input.timeline.device_clock_known) {
        table.notes.emplace_back("The device's clock is not related to the host's: no queue times");
    }
    return table;
}

/// The columns of Nsight Systems' cuda_kern_exec_sum.
Table exec_sum_table(const ViewInput& input, const Latencies& found) {
    const std::uint64_t pid = input.model.index.process ? input.model.index.process->pid : 0;
    Columns columns = {{"pid", "process", Unit::kCount, [=](const Row&) { return pid; }}};
    append(columns, count_columns());
    columns.push_back({"launches", "launches", Unit::kCount, [](const Row& row) { return row.launches; }});
    append(columns,
           {
               duration_column("total_avg_ns", "total avg", &Row::total, &DurationStats::avg_ns),
               duration_column("total_med_ns", "total med", &Row::total, &DurationStats::med_ns),
               duration_column("total_min_ns", "total min", &Row::total, &DurationStats::min_ns),
               duration_column("total_max_ns", "total max", &Row::total, &DurationStats::max_ns),
               duration_column("total_std_dev_ns", "total std dev", &Row::total, &DurationStats::std_dev_ns),
               duration_column("api_avg_ns", "call avg", &Row::api, &DurationStats::avg_ns),
               duration_column("api_med_ns", "call med", &Row::api, &DurationStats::med_ns),
               duration_column("api_min_ns", "call min", &Row::api, &DurationStats::min_ns),
               duration_column("api_max_ns", "call max", &Row::api, &DurationStats::max_ns),
               duration_column("api_std_dev_ns", "call std dev", &Row::api, &DurationStats::std_dev_ns),
               duration_column("queue_avg_ns", "queue avg", &Row::queue, &DurationStats::avg_ns),
               duration_column("queue_med_ns", "queue med", &Row::queue, &DurationStats::med_ns),
               duration_column("queue_min_ns", "queue min", &Row::queue, &DurationStats::min_ns),
               duration_column("queue_max_ns", "queue max", &Row::queue, &DurationStats::max_ns),
               duration_column("queue_std_dev_ns", "queue std dev", &Row::queue, &DurationStats::std_dev_ns),
               duration_column("kernel_avg_ns", "kernel avg", &Row::kernel, &DurationStats::avg_ns),
               duration_column("kernel_med_ns", "kernel med", &Row::kernel, &DurationStats::med_ns),
               duration_column("kernel_min_ns", "kernel min", &Row::kernel, &DurationStats::min_ns),
               duration_column("kernel_max_ns", "kernel max", &Row::kernel, &DurationStats::max_ns),
               duration_column("kernel_std_dev_ns", "kernel std dev", &Row::kernel, &DurationStats::std_dev_ns),
           });
    append(columns, what_columns(input.options.names));
    Table table = make_table("exec_sum", "Kernels from launch to end, all columns",
                             "as in kernels; avg to std dev of the queue are of the queued", columns, found.kernels);
    table.data_only = true;
    return table;
}

Table depth_table(const ViewInput& input, const std::vector<QueueDepth>& depths) {
    using Depth = QueueDepth;
    return make_table<Depth>(
        "depth", "Queue depth", "kernels, copies and sets; waiting: given and not begun; averages over the wall time",
        {
            {"device", "GPU", Unit::kCount, [](const Depth& row) { return row.device; }},
            {"waiting_avg", "waiting avg", Unit::kNumber, [](const Depth& row) { return row.waiting.average; }},
            {"waiting_max", "max", Unit::kCount, [](const Depth& row) { return row.waiting.max; }},
            {"waiting_max_at_ns", "at", Unit::kMomentNs,
             [&](const Depth& row) { return moment_cell(input.model, row.waiting.max_at_ns); }},
            {"unfinished_avg", "unfinished avg", Unit::kNumber,
             [](const Depth& row) { return row.unfinished.average; }},
            {"unfinished_max", "max", Unit::kCount, [](const Depth& row) { return row.unfinished.max; }},
        },
        depths);
}

Table series_table(const ViewInput& input, const std::vector<QueueDepth>& depths) {
    Table table{"depth_series",
                "Queue depth over time",
                "averages of equal parts of the wall time",
                {{"device", "GPU", Unit::kCount},
                 {"at_ns", "at", Unit::kMomentNs},
                 {"waiting_avg", "waiting avg", Unit::kNumber},
                 {"waiting_max", "max", Unit::kCount},
                 {"unfinished_avg", "unfinished avg", Unit::kNumber},
                 {"unfinished_max", "max", Unit::kCount}},
                {},
                {}};
    for (const QueueDepth& depth : depths) {
        // Both are cut into the same parts.
        for (std::size_t i = 0; i < depth.waiting.slots.size(); ++i) {
            const StepSlot& waiting = depth.waiting.slots[i];
            const StepSlot& unfinished = depth.unfinished.slots[i];
            table.rows.push_back({depth.device, moment_cell(input.model, waiting.begin_ns), waiting.average,
                                  waiting.max, unfinished.average, unfinished.max});
        }
    }
    table.data_only = true;
    return table;
}

}  // namespace

std::vector<Table> latency_view(const ViewInput& input) {
    const Latencies found = latencies(input.model, input.timeline);
    const std::vector<QueueDepth> depths = queue_depths(input.model, input.timeline);
    return {kernel_table(input, found), depth_table(input, depths), exec_sum_table(input, found),
            series_table(input, depths)};
}

}  // namespace gpuspy::analysis

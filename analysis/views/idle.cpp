#include "analysis/passes/idle.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/passes/verdict.hpp"
#include "analysis/render/display_text.hpp"
#include "analysis/render/verdict_text.hpp"
#include "analysis/views/activity_name.hpp"
#include "analysis/views/device_rows.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

void add_missing_notes(Table& table, const Idle& result) {
    for (const DeviceIdle& device : result.devices) {
        if (device.untimed != 0) {
            table.notes.push_back(fmt::format("GPU {}: {} activities have no usable time: gaps may hold them",
                                              device.ordinal, device.untimed));
        }
        if (device.left_out != 0) {
            table.notes.push_back(fmt::format(
                "GPU {}: {} activities are not selected: what is called idle here is time without a selected one",
                device.ordinal, device.left_out));
        }
    }
}

Table verdict_table(const ViewInput& input, const Idle& result) {
    using Row = Verdict;
    const auto time = [](const char* name, const char* title, std::uint64_t Verdict::*field) {
        return ColumnOf<Row>{name, title, Unit::kDurationNs,
                             [field](const Row& row) { return row.span_ns == 0 ? Cell{} : Cell{row.*field}; }};
    };
    std::vector<Verdict> rows = verdicts(input.model, result);
    if (rows.empty()) {
        rows.push_back(verdict(input.model, result));
    }
    Table table = make_table<Row>(
        "verdict", "What bounds the run",
        "times are parts of the span between first and last activity, and add up to it",
        {
            {"device", "GPU", Unit::kCount, [](const Row& row) { return row.device ? Cell{*row.device} : Cell{}; }},
            {"verdict", "verdict", Unit::kText, [](const Row& row) { return std::string(bound_text(row.bound)); }},
            time("span_ns", "span", &Verdict::span_ns),
            time("kernels_ns", "kernels", &Verdict::kernels_ns),
            time("copies_ns", "copies alone", &Verdict::copies_ns),
            time("sync_ns", "waits", &Verdict::sync_ns),
            time("copy_calls_ns", "copy calls", &Verdict::copy_calls_ns),
            time("launch_ns", "launches", &Verdict::launch_ns),
            time("host_ns", "host", &Verdict::host_ns),
            time("queued_ns", "queued", &Verdict::queued_ns),
            time("not_known_ns", "not known", &Verdict::not_known_ns),
        },
        rows);
    for (const Verdict& row : rows) {
        table.notes.push_back((row.device ? fmt::format("GPU {}: ", *row.device) : "") + verdict_text(row));
    }
    if (rows.size() > 1) {
        table.notes.push_back(fmt::format("all GPUs together: {}", verdict_text(verdict(input.model, result))));
    }
    add_missing_notes(table, result);
    return table;
}

using TotalOfDevice = OfDevice<DeviceIdle, CauseTotal>;

std::vector<ColumnOf<TotalOfDevice>> total_columns() {
    using Row = TotalOfDevice;
    return {
        device_column<Row>(),
        {"share_of_idle", "% idle", Unit::kShare, [](const Row& of) { return of.row->share_of_idle; }},
        {"share_of_wall", "% wall", Unit::kShare, [](const Row& of) { return of.row->share_of_wall; }},
        {"total_ns", "total", Unit::kDurationNs, [](const Row& of) { return of.row->time_ns; }},
        {"gaps", "gaps", Unit::kCount, [](const Row& of) { return of.row->gaps; }},
        {"longest_ns", "longest", Unit::kDurationNs, [](const Row& of) { return of.row->longest_ns; }},
        {"after_wait_ns", "after a wait", Unit::kDurationNs, [](const Row& of) { return of.row->after_wait_ns; }},
        {"cause", "cause", Unit::kText, [](const Row& of) { return std::string(idle_cause_text(of.row->cause)); }},
    };
}

Table causes_table(const Idle& result) {
    Table table = make_table<TotalOfDevice>("causes", "Idle time by cause",
                                            "host: the thread that launched what came after the gap", total_columns(),
                                            rows_of(result.devices, &DeviceIdle::causes));
    for (const DeviceIdle& device : result.devices) {
        table.notes.push_back(fmt::format("GPU {}: busy {} + idle {} = wall {}", device.ordinal,
                                          duration_text(device.busy_ns), duration_text(device.idle_ns),
                                          duration_text(device.wall_ns)));
    }
    if (!result.known) {
        table.notes.emplace_back(
            "not known: the trace does not relate the device's clock to the host's (were device times recorded?)");
    }
    add_missing_notes(table, result);
    return table;
}

Table calls_table(const Idle& result) {
    std::vector<ColumnOf<TotalOfDevice>> columns = total_columns();
    columns.push_back({"call", "call", Unit::kText, [](const TotalOfDevice& of) { return of.row->call; }});
    return make_table<TotalOfDevice>("calls", "Idle time while the host was in a call", "", columns,
                                     rows_of(result.devices, &DeviceIdle::calls));
}

Table gaps_table(const ViewInput& input, const Idle& result) {
    using Row = OfDevice<DeviceIdle, Gap>;
    const auto api_name = [&](std::uint32_t api) {
        return api == kNone ? Cell{} : Cell{input.model.index.symbols.api(api).name};
    };
    const auto name_at = [&](std::uint32_t position) {
        return position == kNone ? Cell{} : Cell{activity_name(input, input.timeline.activities[position])};
    };
    std::vector<Row> rows = rows_of(result.devices, &DeviceIdle::gaps);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.row->length_ns() > b.row->length_ns(); });
    return make_table<Row>(
        "gaps", "Gaps", "longest first; cause: of most of the gap; after: what ran before it, before: what came then",
        {
            device_column<Row>(),
            {"begin_ns", "at", Unit::kMomentNs, [&](const Row& of) { return of.row->begin_ns - input.model.first_ns; }},
            {"length_ns", "length", Unit::kDurationNs, [](const Row& of) { return of.row->length_ns(); }},
            {"cause_ns", "of it", Unit::kDurationNs, [](const Row& of) { return of.row->parts.front().time_ns; }},
            {"cause", "cause", Unit::kText,
             [](const Row& of) { return std::string(idle_cause_text(of.row->parts.front().cause)); }},
            {"call", "call", Unit::kText, [&](const Row& of) { return api_name(of.row->parts.front().api); }},
            {"wait", "after a wait in", Unit::kText, [&](const Row& of) { return api_name(of.row->wait_api); }},
            {"tid", "thread", Unit::kCount,
             [&](const Row& of) {
                 return of.row->thread == kNone
                            ? Cell{}
                            : Cell{std::uint64_t{input.model.index.symbols.threads()[of.row->thread].tid}};
             }},
            // One name gets the room that is left, and it is the one that tells where to look in the program.
            {"after", "after", Unit::kText, [&](const Row& of) { return name_at(of.row->before); }},
            {"before", "before", Unit::kName, [&](const Row& of) { return name_at(of.row->after); }},
        },
        rows);
}

}  // namespace

std::vector<Table> idle_view(const ViewInput& input) {
    const Idle result = idle(input.model, input.timeline);
    return {verdict_table(input, result), causes_table(result), calls_table(result), gaps_table(input, result)};
}

}  // namespace gpuspy::analysis

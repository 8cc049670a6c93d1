#include <fmt/format.h>

#include <array>

#include "analysis/passes/duration_stats.hpp"
#include "analysis/passes/iterations.hpp"
#include "analysis/passes/nvtx_ranges.hpp"
#include "analysis/views/duration_columns.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

struct KindRow {
    const char* kind;
    DurationStats duration;
    double launches = 0, gpu_ns = 0, busy_ns = 0, sync_ns = 0;  ///< Means.
};

constexpr std::array kKinds = {std::pair{IterationKind::kWarmUp, "warm-up"},
                               std::pair{IterationKind::kSteady, "steady"},
                               std::pair{IterationKind::kOutlier, "outlier"}};

const char* kind_text(IterationKind kind) {
    for (const auto& [value, text] : kKinds) {
        if (value == kind) {
            return text;
        }
    }
    return "";
}

Table summary_table(const Iterations& found) {
    using Row = KindRow;
    std::vector<Row> rows;
    for (const auto& [kind, text] : kKinds) {
        Row row{text, {}};
        Samples durations;
        for (const Iteration& iteration : found.rows) {
            if (iteration.kind == kind) {
                durations.add(iteration.duration_ns());
                row.launches += static_cast<double>(iteration.launches);
                row.gpu_ns += static_cast<double>(iteration.gpu_ns);
                row.busy_ns += static_cast<double>(iteration.busy_ns);
                row.sync_ns += static_cast<double>(iteration.sync_ns);
            }
        }
        row.duration = duration_stats(durations);
        if (durations.count() != 0) {
            for (double* mean : {&row.launches, &row.gpu_ns, &row.busy_ns, &row.sync_ns}) {
                *mean /= static_cast<double>(durations.count());
            }
            rows.push_back(row);
        }
    }
    Table table = make_table<Row>(
        "iterations_summary", "Iterations",
        "found from the repeating sequence of launches; launches, GPU, busy and sync are means",
        with_durations<Row>({{"kind", "kind", Unit::kText, [](const Row& row) { return std::string(row.kind); }},
                             {"count", "count", Unit::kCount, [](const Row& row) { return row.duration.timed; }}},
                            {{"launches", "launches", Unit::kNumber, [](const Row& row) { return row.launches; }},
                             {"gpu_ns", "GPU", Unit::kDurationNs, [](const Row& row) { return row.gpu_ns; }},
                             {"busy_ns", "busy", Unit::kDurationNs, [](const Row& row) { return row.busy_ns; }},
                             {"sync_ns", "sync", Unit::kDurationNs, [](const Row& row) { return row.sync_ns; }}}),
        rows);
    table.notes.push_back(
        found.found ? fmt::format("{} launches an iteration; {:.1f} % of the launches come again one iteration later",
                                  found.launches, 100 * found.agreement)
                    : "no iterations were found: the sequence of launches does not repeat three times");
    return table;
}

Table iteration_table(const Iterations& found, std::int64_t origin_ns) {
    using Row = Iteration;
    return make_table<Row>(
        "iterations", "Each iteration",
        "duration: from kernel to kernel on the device, host: from launch to launch; irregular: other launches than "
        "most",
        {
            {"begin_ns", "begin", Unit::kMomentNs, [=](const Row& row) { return row.begin_ns - origin_ns; }},
            {"duration_ns", "duration", Unit::kDurationNs, [](const Row& row) { return row.duration_ns(); }},
            {"host_ns", "host", Unit::kDurationNs, [](const Row& row) { return row.host_ns(); }},
            {"launches", "launches", Unit::kCount, [](const Row& row) { return row.launches; }},
            {"kernels", "kernels", Unit::kCount, [](const Row& row) { return row.kernels; }},
            {"gpu_ns", "GPU", Unit::kDurationNs, [](const Row& row) { return row.gpu_ns; }},
            {"busy_ns", "busy", Unit::kDurationNs, [](const Row& row) { return row.busy_ns; }},
            {"sync_ns", "sync", Unit::kDurationNs, [](const Row& row) { return row.sync_ns; }},
            {"kind", "kind", Unit::kText, [](const Row& row) { return std::string(kind_text(row.kind)); }},
            {"regular", "launches are", Unit::kText,
             [](const Row& row) { return std::string(row.regular ? "regular" : "irregular"); }},
        },
        found.rows);
}

const char* range_text(Range::Kind kind) {
    switch (kind) {
        case Range::Kind::kPushPop:
            return "push/pop";
        case Range::Kind::kStartEnd:
            return "start/end";
        case Range::Kind::kMark:
            return "mark";
    }
    return "";
}

Table range_table(const ViewInput& input) {
    using Row = RangeRow;
    const auto on_device = [](const Row& row, auto value) { return row.gpu_ns == 0 ? Cell{} : Cell{value}; };
    Table table = make_table<Row>(
        "ranges", "NVTX ranges",
        "times: of the host; kernels, GPU: of what was launched inside; projected: from its first begin to its last "
        "end",
        with_durations<Row>(
            {{"count", "count", Unit::kCount, [](const Row& row) { return row.count; }},
             {"open", "open", Unit::kCount, [](const Row& row) { return row.open; }}},
            {{"launches", "launches", Unit::kCount, [](const Row& row) { return row.launches; }},
             {"kernels", "kernels", Unit::kCount, [](const Row& row) { return row.kernels; }},
             {"gpu_ns", "GPU", Unit::kDurationNs, [=](const Row& row) { return on_device(row, row.gpu_ns); }},
             {"projected_ns", "projected", Unit::kDurationNs,
              [=](const Row& row) { return on_device(row, row.projected_ns); }},
             {"kind", "kind", Unit::kText, [](const Row& row) { return std::string(range_text(row.kind)); }},
             {"domain", "domain", Unit::kText, [](const Row& row) { return row.domain; }},
             {"name", "range", Unit::kName, [](const Row& row) { return row.name; }}}),
        range_table(input.model, input.timeline));
    if (input.timeline.unpaired_ranges != 0) {
        table.notes.push_back(
            fmt::format("{} begins or ends of ranges have no counterpart in the trace: it lay outside of "
                        "the recording, or was dropped",
                        input.timeline.unpaired_ranges));
    }
    const auto& info = input.model.index.info;
    if (const auto said = info.find("nvtx"); table.rows.empty() && said != info.end()) {
        table.notes.push_back("NVTX: " + said->second);
    }
    return table;
}

}  // namespace

std::vector<Table> phases_view(const ViewInput& input) {
    // Found in the whole recording: a part of it may begin in the middle of one.
    Iterations found = iterations(input.model, *input.model.timeline);
    std::erase_if(found.rows, [&](const Iteration& row) {
        const std::int64_t begin_ns = row.on_device() ? row.device_begin_ns : row.begin_ns;
        return begin_ns < input.timeline.begin_ns || begin_ns >= input.timeline.end_ns;
    });
    return {summary_table(found), iteration_table(found, input.model.first_ns), range_table(input)};
}

}  // namespace gpuspy::analysis

#include "analysis/passes/completeness.hpp"

#include <array>

#include "analysis/passes/overhead.hpp"
#include "analysis/render/kernel_name.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

struct CountRow {
    const char* what;
    std::uint64_t count;
};

const std::vector<ColumnOf<CountRow>> kCountColumns = {
    {"count", "count", Unit::kCount, [](const CountRow& row) { return row.count; }},
    {"what", "what", Unit::kText, [](const CountRow& row) { return std::string(row.what); }},
};

Table launches_table(const Completeness& all) {
    const LaunchCounts& n = all.launches;
    const std::array rows = {
        CountRow{"launches", n.host},
        CountRow{"captured into a graph", n.captured},
        CountRow{"failed", n.failed},
        CountRow{"made while device times were off", n.untimed},
        CountRow{"seen by CUPTI alone", n.unhooked},
        CountRow{"graph launches", n.graph_launches},
        CountRow{"kernels of the graphs they launched", n.graph_nodes},
        CountRow{"launches of graphs that are not known", n.unknown_graphs},
        CountRow{"launches of graphs with conditional nodes", n.conditional_graphs},
        CountRow{"kernel records that must come", n.expected},
        CountRow{"kernel records that came", n.device_records},
        CountRow{"matched", n.matched},
        CountRow{"matched beyond what must come", n.matched_beyond},
        CountRow{"records without a usable time", all.untimed_records},
        CountRow{"not returned before the end", n.not_returned},
        CountRow{"launches without a record", n.unmatched_launches},
        CountRow{"records without a launch", n.unmatched_records},
    };
    Table table = make_table<CountRow>("launches", all.complete ? "Complete" : "Not complete",
                                       "of the whole recording, whatever was selected", kCountColumns, rows);
    table.notes = all.reasons;
    return table;
}

Table missing_table(const ViewInput& input, const Completeness& all) {
    struct Row {
        std::string name;
        std::uint64_t count;
        std::string what;
    };
    std::vector<Row> rows;
    for (const LossRow& loss : all.losses) {
        rows.push_back({"", loss.count, loss.text});
    }
    if (const std::uint64_t unpaired = input.timeline.unpaired_ranges; unpaired != 0) {
        rows.push_back({"", unpaired, "begins or ends of NVTX ranges without their counterpart"});
    }
    for (const UnmatchedRow& kernel : all.unmatched) {
        const std::string name = kernel_name(kernel.mangled, input.options.names);
        for (const auto& [what, count] : {std::pair("launches without a record", kernel.launches),
                                          std::pair("records without a launch", kernel.records),
                                          std::pair("not returned before the end", kernel.not_returned)}) {
            if (count != 0) {
                rows.push_back({name, count, what});
            }
        }
    }
    return make_table<Row>(
        "missing", "Missing", "by cause, each from its own evidence; what has none, by kernel",
        {
            {"count", "count", Unit::kCount, [](const Row& row) { return row.count; }},
            {"what", "what", Unit::kText, [](const Row& row) { return row.what; }},
            {"name", "kernel", Unit::kName, [](const Row& row) { return row.name.empty() ? Cell{} : Cell{row.name}; }},
        },
        rows);
}

Table cost_table(const Overhead& cost) {
    struct Row {
        const char* what;
        std::uint64_t time_ns;
    };
    std::vector<Row> rows;
    if (cost.known) {
        rows = {{"recorded calls", cost.calls_ns},
                {"drain thread, CPU", cost.drain_ns},
                {"CUPTI's callbacks", cost.callback_ns},
                {"in all", cost.total_ns}};
    }
    Table table = make_table<Row>(
        "cost", "What gpuspy cost", "an estimate; not included: what CUPTI costs in the driver and on the GPU",
        {
            {"time_ns", "time", Unit::kDurationNs, [](const Row& row) { return row.time_ns; }},
            {"what", "what", Unit::kText, [](const Row& row) { return std::string(row.what); }},
        },
        rows);
    if (!cost.known) {
        table.notes.emplace_back("not known: the trace does not say");
    }
    return table;
}

}  // namespace

std::vector<Table> completeness_view(const ViewInput& input) {
    const Completeness all = completeness(input.model);
    return {launches_table(all), missing_table(input, all), cost_table(overhead(input.model))};
}

}  // namespace gpuspy::analysis

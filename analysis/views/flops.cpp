#include <fmt/format.h>

#include <cmath>

#include "analysis/passes/work_executions.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

template <class Value>
Cell known_or_nothing(const std::optional<Value>& value) {
    return value ? Cell(*value) : Cell();
}

/// Whole where a double holds every whole number of its size.
Cell whole(double value) {
    constexpr double kExact = 9007199254740992;  // 2^53
    return value < kExact ? Cell(static_cast<std::uint64_t>(std::llround(value))) : Cell(value);
}

Cell bound_of(const FlopsRow& row) {
    return row.memory_bound ? Cell(std::string(*row.memory_bound ? "memory" : "arithmetic")) : Cell();
}

Table totals_table(const WorkExecutions& executions, const FlopsReport& report) {
    using Row = FlopsTotal;
    Table table = make_table<Row>(
        "totals", "FLOPs",
        "algorithmic, of library calls; covered: share of the kernels' time in calls whose FLOPs are known",
        {
            {"flops", "FLOP", Unit::kFlops, [](const Row& row) { return row.flops ? whole(*row.flops) : Cell(); }},
            {"covered", "covered", Unit::kShare, [](const Row& row) { return known_or_nothing(row.covered); }},
            {"flops_per_s_of_wall", "per s of wall", Unit::kFlopsPerS,
             [](const Row& row) { return known_or_nothing(row.per_s_of_wall); }},
            {"utilisation_of_wall", "% of peak", Unit::kShare,
             [](const Row& row) { return known_or_nothing(row.utilisation_of_wall); }},
            {"flops_per_s_of_busy", "per s of busy", Unit::kFlopsPerS,
             [](const Row& row) { return known_or_nothing(row.per_s_of_busy); }},
            {"utilisation_of_busy", "% of peak", Unit::kShare,
             [](const Row& row) { return known_or_nothing(row.utilisation_of_busy); }},
            {"kernel_ns", "kernels", Unit::kDurationNs, [](const Row& row) { return row.time.kernel_ns; }},
            {"known_ns", "known", Unit::kDurationNs, [](const Row& row) { return row.time.known_ns; }},
            {"zero_ns", "no FLOPs", Unit::kDurationNs, [](const Row& row) { return row.time.zero_ns; }},
            {"unknown_ns", "unknown", Unit::kDurationNs, [](const Row& row) { return row.time.unknown_ns; }},
            {"other_ns", "other", Unit::kDurationNs, [](const Row& row) { return row.time.other_ns; }},
            {"device", "device", Unit::kText, [](const Row& row) { return row.device; }},
        },
        report.totals);
    if (executions.without_records != 0) {
        table.notes.push_back(
            fmt::format("{} calls of known FLOPs have no device record here: not counted", executions.without_records));
    }
    if (executions.in_part != 0) {
        table.notes.push_back(
            fmt::format("{} operations lie partly outside of what was selected: of their FLOPs counts the share of "
                        "their device time "
                        "that lies inside",
                        executions.in_part));
    }
    if (executions.told_by_kernels != 0) {
        table.notes.push_back(
            fmt::format("FP32 or TF32: the kernels' names said it for {} executions", executions.told_by_kernels));
    }
    return table;
}

Table operations_table(const FlopsReport& report) {
    using Row = FlopsRow;
    return make_table<Row>(
        "operations", "Operations",
        "FLOP/B: per byte of inputs and outputs; % roof: of what peak and memory bandwidth together allow",
        {
            {"gpu_ns", "GPU", Unit::kDurationNs, [](const Row& row) { return row.gpu_ns; }},
            {"executions", "runs", Unit::kCount, [](const Row& row) { return row.executions; }},
            {"kernels", "kernels", Unit::kCount, [](const Row& row) { return row.kernels; }},
            {"flops", "FLOP", Unit::kFlops, [](const Row& row) { return whole(row.flops); }},
            {"flops_per_s", "FLOP/s", Unit::kFlopsPerS, [](const Row& row) { return known_or_nothing(row.per_s); }},
            {"share_of_peak", "% peak", Unit::kShare,
             [](const Row& row) { return known_or_nothing(row.share_of_peak); }},
            {"share_of_roof", "% roof", Unit::kShare,
             [](const Row& row) { return known_or_nothing(row.share_of_roof); }},
            {"bound_by", "bound", Unit::kText, bound_of},
            {"flops_per_byte", "FLOP/B", Unit::kNumber, [](const Row& row) { return known_or_nothing(row.intensity); }},
            {"least_bytes", "least", Unit::kBytes, [](const Row& row) { return whole(row.least_bytes); }},
            {"type", "type", Unit::kText, [](const Row& row) { return std::string(name_of(row.type)); }},
            {"operation", "operation", Unit::kText, [](const Row& row) { return std::string(name_of(row.operation)); }},
            {"library", "library", Unit::kText, [](const Row& row) { return row.library; }},
            {"name", "call", Unit::kText, [](const Row& row) { return row.api; }},
        },
        report.rows);
}

Table types_table(const FlopsReport& report) {
    using Row = TypeRow;
    return make_table<Row>(
        "types", "Arithmetic", "peaks are dense; own: derived from the device's multiprocessors and highest clock",
        {
            {"gpu_ns", "GPU", Unit::kDurationNs, [](const Row& row) { return row.gpu_ns; }},
            {"flops", "FLOP", Unit::kFlops, [](const Row& row) { return whole(row.flops); }},
            {"flops_per_s", "FLOP/s", Unit::kFlopsPerS, [](const Row& row) { return known_or_nothing(row.per_s); }},
            {"share_of_peak", "% peak", Unit::kShare,
             [](const Row& row) { return known_or_nothing(row.share_of_peak); }},
            {"peak_derived", "peak, own", Unit::kFlopsPerS,
             [](const Row& row) { return known_or_nothing(row.peak.derived); }},
            {"peak_datasheet", "datasheet", Unit::kFlopsPerS,
             [](const Row& row) { return known_or_nothing(row.peak.datasheet); }},
            {"type", "type", Unit::kText, [](const Row& row) { return std::string(name_of(row.type)); }},
            {"device", "device", Unit::kText, [](const Row& row) { return row.device; }},
        },
        report.types);
}

Table unknown_table(const FlopsReport& report) {
    using Row = UnknownRow;
    return make_table<Row>(
        "unknown", "Calls of unknown FLOPs", "",
        {
            {"gpu_ns", "GPU", Unit::kDurationNs, [](const Row& row) { return row.gpu_ns; }},
            {"share_of_kernels", "% kernels", Unit::kShare,
             [](const Row& row) { return known_or_nothing(row.share_of_kernels); }},
            {"executions", "runs", Unit::kCount, [](const Row& row) { return row.executions; }},
            {"cause", "why", Unit::kText, [](const Row& row) { return std::string(reason_of(row.cause)); }},
            {"library", "library", Unit::kText, [](const Row& row) { return row.library; }},
            {"name", "call", Unit::kText, [](const Row& row) { return row.api; }},
        },
        report.unknown);
}

}  // namespace

std::vector<Table> flops_view(const ViewInput& input) {
    const WorkExecutions executions = work_executions(input.model, input.timeline);
    const FlopsReport report = flops_report(executions.input);
    return {totals_table(executions, report), operations_table(report), types_table(report), unknown_table(report)};
}

}  // namespace gpuspy::analysis

#include <fmt/format.h>

#include "analysis/passes/allocations.hpp"
#include "analysis/passes/copy_sizes.hpp"
#include "analysis/views/cells.hpp"
#include "analysis/views/duration_columns.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

using Columns = std::vector<ColumnOf<CopyUse>>;

const Columns kDirection = {
    {"direction", "direction", Unit::kText, [](const CopyUse& row) { return row.direction; }},
    {"source", "from", Unit::kText, [](const CopyUse& row) { return row.source; }},
    {"destination", "to", Unit::kText, [](const CopyUse& row) { return row.destination; }},
};
const Columns kSizes = {
    {"least_bytes", "size from", Unit::kBytes, [](const CopyUse& row) { return row.least_bytes; }},
    {"below_bytes", "below", Unit::kBytes, [](const CopyUse& row) { return row.below_bytes; }},
};
const Columns kAmount = {
    {"count", "count", Unit::kCount, [](const CopyUse& row) { return row.count; }},
    {"bytes", "bytes", Unit::kBytes, [](const CopyUse& row) { return row.bytes; }},
    {"gb_per_s", "GB/s", Unit::kGigabytesPerS,
     [](const CopyUse& row) { return row.duration.timed == 0 ? Cell{} : Cell{row.gb_per_s}; }},
    {"peak_gb_per_s", "peak GB/s", Unit::kGigabytesPerS, [](const CopyUse& row) { return cell_of(row.peak_gb_per_s); }},
};

Columns together(std::initializer_list<Columns> parts) {
    Columns all;
    for (const Columns& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

Table copy_table(const ViewInput& input) {
    const std::vector<CopyUse> rows = copies_by_memory(input.model, input.timeline);
    Table table = make_table("copies", "Copies and sets", "by direction and kinds of memory",
                             with_durations(together({kDirection, kAmount})), rows);
    if (!rows.empty()) {
        table.notes.emplace_back(
            "Peak: the device's memory, for copies inside a device and sets; links (PCIe, NVLink) are not known");
    }
    return table;
}

Table size_table(const ViewInput& input) {
    return make_table("sizes", "Copies and sets by size", "", with_durations(together({kDirection, kSizes, kAmount})),
                      copies_by_size(input.model, input.timeline));
}

Table allocation_table(const ViewInput& input, const Allocations& found) {
    using Row = PlaceUse;
    Table table = make_table<Row>(
        "allocations", "Allocated memory", "of the process, by CUDA's calls; not freed: at the end",
        {
            {"place", "memory", Unit::kText, [](const Row& row) { return place_name(row.place); }},
            {"peak_bytes", "peak", Unit::kBytes, [](const Row& row) { return row.bytes.max; }},
            {"peak_at_ns", "at", Unit::kMomentNs,
             [&](const Row& row) { return moment_cell(input.model, row.bytes.max_at_ns); }},
            {"end_bytes", "not freed", Unit::kBytes, [](const Row& row) { return row.bytes.last; }},
            {"live", "blocks", Unit::kCount, [](const Row& row) { return row.live; }},
            {"avg_bytes", "avg", Unit::kBytes, [](const Row& row) { return row.bytes.average; }},
            {"allocations", "allocations", Unit::kCount, [](const Row& row) { return row.allocations; }},
            {"allocated_bytes", "allocated", Unit::kBytes, [](const Row& row) { return row.allocated_bytes; }},
            {"frees", "frees", Unit::kCount, [](const Row& row) { return row.frees; }},
        },
        found.places);
    for (const NotCovered& call : found.not_covered) {
        table.notes.push_back(
            fmt::format("Not in it: {} calls of {}, whose size is not in the trace", call.count, call.call));
    }
    if (found.unknown_frees != 0) {
        table.notes.push_back(
            fmt::format("{} frees of memory whose allocation is not in the trace", found.unknown_frees));
    }
    if (found.replaced != 0) {
        table.notes.push_back(
            fmt::format("{} addresses were given out again: their free is not in the trace", found.replaced));
    }
    return table;
}

Table not_freed_table(const ViewInput& input, const Allocations& found) {
    using Row = NotFreed;
    return make_table<Row>("not_freed", "Allocated and not freed",
                           "by size and caller; CUDA frees it when the process ends",
                           {
                               {"total_bytes", "total", Unit::kBytes, [](const Row& row) { return row.total_bytes; }},
                               {"count", "count", Unit::kCount, [](const Row& row) { return row.count; }},
                               {"bytes", "each", Unit::kBytes, [](const Row& row) { return row.bytes; }},
                               {"place", "memory", Unit::kText, [](const Row& row) { return place_name(row.place); }},
                               {"first_at_ns", "first at", Unit::kMomentNs,
                                [&](const Row& row) { return moment_cell(input.model, row.first_ns); }},
                               {"call", "call", Unit::kText, [](const Row& row) { return row.call; }},
                               {"site", "called by", Unit::kText, [](const Row& row) { return row.site; }},
                           },
                           found.not_freed);
}

Table series_table(const ViewInput& input, const Allocations& found) {
    Table table{"allocation_series",
                "Allocated memory over time",
                "equal parts of the wall time",
                {{"place", "memory", Unit::kText},
                 {"at_ns", "at", Unit::kMomentNs},
                 {"max_bytes", "max", Unit::kBytes},
                 {"end_bytes", "at its end", Unit::kBytes}},
                {},
                {}};
    for (const PlaceUse& use : found.places) {
        for (const StepSlot& slot : use.bytes.slots) {
            table.rows.push_back({place_name(use.place), moment_cell(input.model, slot.begin_ns), slot.max, slot.last});
        }
    }
    table.data_only = true;
    return table;
}

}  // namespace

std::vector<Table> memory_view(const ViewInput& input) {
    const Allocations found = allocations(input.model, input.timeline);
    return {copy_table(input), size_table(input), allocation_table(input, found), not_freed_table(input, found),
            series_table(input, found)};
}

}  // namespace gpuspy::analysis

// The columns that tables of kernels, calls and copies share.
#pragma once

#include <vector>

#include "analysis/passes/duration_stats.hpp"
#include "analysis/table/table.hpp"

namespace gpuspy::analysis {

/// total, avg, med, min, max, std dev of Row::duration, behind `columns`.
template <class Row>
std::vector<ColumnOf<Row>> with_durations(std::vector<ColumnOf<Row>> columns, std::vector<ColumnOf<Row>> behind = {}) {
    const auto timed = [](const Row& row, auto value) { return row.duration.timed == 0 ? Cell{} : Cell{value}; };
    std::vector<ColumnOf<Row>> durations = {
        {"total_ns", "total", Unit::kDurationNs, [=](const Row& row) { return timed(row, row.duration.time_ns); }},
        {"avg_ns", "avg", Unit::kDurationNs, [=](const Row& row) { return timed(row, row.duration.avg_ns); }},
        {"med_ns", "med", Unit::kDurationNs, [=](const Row& row) { return timed(row, row.duration.med_ns); }},
        {"min_ns", "min", Unit::kDurationNs, [=](const Row& row) { return timed(row, row.duration.min_ns); }},
        {"max_ns", "max", Unit::kDurationNs, [=](const Row& row) { return timed(row, row.duration.max_ns); }},
        {"std_dev_ns", "std dev", Unit::kDurationNs,
         [=](const Row& row) { return timed(row, row.duration.std_dev_ns); }},
    };
    columns.insert(columns.end(), durations.begin(), durations.end());
    columns.insert(columns.end(), behind.begin(), behind.end());
    return columns;
}

}  // namespace gpuspy::analysis

#include "analysis/views/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis {
namespace {

/// A setting has reached saturation where it has this share of the best one's images a second.
constexpr double kSaturated = 0.95;
constexpr double kBarColumns = 30;
/// Of a label above a column of numbers, in text.
constexpr std::size_t kLabelColumns = 16;
constexpr std::size_t kTitleColumns = 30;
constexpr std::size_t kRatioColumns = 7;
constexpr std::size_t kBestColumns = 18;

Cell number(double value, Unit unit) {
    const bool whole = unit == Unit::kCount || unit == Unit::kDurationNs || unit == Unit::kBytes;
    if (unit == Unit::kDurationNs || unit == Unit::kBytes || (whole && value == std::floor(value))) {
        return static_cast<std::int64_t>(std::llround(value));
    }
    return value;
}

Cell number(const std::optional<double>& value, Unit unit) {
    return value ? number(*value, unit) : Cell{};
}

Table traces_table(const Comparison& comparison) {
    Table table{"traces", "Traces", "", {}, {}, comparison.notes};
    table.columns = {{"trace", "trace", Unit::kText},       {"run", "run", Unit::kCount},
                     {"complete", "complete", Unit::kText}, {"gpu", "GPU", Unit::kText},
                     {"driver", "driver", Unit::kText},     {"images", "images", Unit::kCount},
                     {"path", "file", Unit::kText},         {"command", "command", Unit::kName}};
    for (const RunGroup& group : comparison.groups) {
        for (std::size_t run = 0; run < group.runs.size(); ++run) {
            const TraceFacts& facts = group.runs[run];
            const auto driver = facts.versions.find("driver");
            table.rows.push_back({group.label, std::uint64_t{run + 1},
                                  std::string(facts.incomplete.empty() ? "yes" : "no"),
                                  facts.gpus.empty() ? Cell{} : Cell(fmt::format("{}", fmt::join(facts.gpus, " + "))),
                                  driver == facts.versions.end() ? Cell{} : Cell(driver->second),
                                  number(facts.images, Unit::kCount), facts.path, facts.command});
        }
    }
    return table;
}

/// The measures of `groups`, the first of which is what the others are compared with.
Table measures_table(const Comparison& comparison, const std::vector<std::size_t>& groups, bool best, bool for_text) {
    const bool names = !for_text || (groups.size() <= 2 && !best);
    const auto label = [&](std::size_t group) {
        const std::string& whole = comparison.labels[group];
        return for_text && groups.size() > 2 ? cut_middle(printable(whole), kLabelColumns) : whole;
    };
    const bool medians = std::any_of(comparison.groups.begin(), comparison.groups.end(),
                                     [](const RunGroup& group) { return group.runs.size() > 1; });
    Table table{
        "measures", "Side by side", medians ? "medians; ratios are to the first" : "ratios are to the first", {}, {},
        {}};
    table.columns.push_back({"title", "", Unit::kText});
    for (const std::size_t group : groups) {
        const std::string number = std::to_string(group + 1);
        table.columns.push_back({"value_" + number, label(group), Unit::kNumber, true});
        if (group != 0) {
            table.columns.push_back({"ratio_" + number, "ratio", Unit::kNumber});
        }
    }
    if (best) {
        table.columns.push_back({"best", "best", Unit::kText});
    }
    if (names) {
        table.columns.push_back({"measure", "--fail-if name", Unit::kText});
    }
    for (const ComparedMeasure& row : comparison.measures) {
        const Unit unit = row.measure.unit;
        std::vector<Cell> cells = {row.measure.title};
        for (const std::size_t group : groups) {
            const auto& value = row.values[group];
            cells.push_back(value ? number(value->median, unit) : Cell{});
            if (group != 0) {
                cells.push_back(row.ratios[group] ? Cell(*row.ratios[group]) : Cell{});
            }
        }
        if (best) {
            std::vector<std::string> labels;
            for (const std::size_t group : row.best) {
                labels.push_back(comparison.labels[group]);
            }
            cells.push_back(labels.empty() ? Cell{} : Cell(fmt::format("{}", fmt::join(labels, ", "))));
        }
        if (names) {
            cells.push_back(row.measure.name);
        }
        table.rows.push_back(std::move(cells));
        table.row_units.push_back(unit);
    }
    return table;
}

/// As many groups to a table as fit, the first in each.
std::vector<Table> measures_tables(const Comparison& comparison, const ComparisonTableOptions& options) {
    std::vector<std::size_t> all(comparison.groups.size());
    std::iota(all.begin(), all.end(), 0);
    if (!options.for_text) {
        return {measures_table(comparison, all, options.best, false)};
    }
    std::size_t label = 10;
    for (const std::string& one : comparison.labels) {
        label = std::max(label, std::min(one.size(), kLabelColumns));
    }
    const std::size_t fixed = kTitleColumns + label + 2 + (options.best ? kBestColumns : 0);
    const std::size_t each = label + 2 + kRatioColumns;
    const std::size_t fitting =
        options.columns == 0 ? all.size()
                             : std::max<std::size_t>(1, (options.columns - std::min(options.columns, fixed)) / each);
    std::vector<Table> tables;
    for (std::size_t next = 1; next < all.size() || tables.empty(); next += fitting) {
        std::vector<std::size_t> groups = {0};
        for (std::size_t group = next; group < std::min(all.size(), next + fitting); ++group) {
            groups.push_back(group);
        }
        tables.push_back(measures_table(comparison, groups, options.best && next + fitting >= all.size(), true));
    }
    return tables;
}

Table spread_table(const Comparison& comparison) {
    Table table{"spread", "Spread", "of runs of the same trace that differ; spread: (max - min) / median", {}, {}, {}};
    table.columns = {{"title", "", Unit::kText},           {"trace", "trace", Unit::kText},
                     {"runs", "runs", Unit::kCount},       {"median", "median", Unit::kNumber, true},
                     {"min", "min", Unit::kNumber, true},  {"max", "max", Unit::kNumber, true},
                     {"spread", "% spread", Unit::kShare}, {"measure", "measure", Unit::kText}};
    for (const ComparedMeasure& row : comparison.measures) {
        const Unit unit = row.measure.unit;
        for (std::size_t group = 0; group < row.values.size(); ++group) {
            const auto& value = row.values[group];
            if (!value || value->min == value->max) {
                continue;
            }
            table.rows.push_back({row.measure.title, comparison.labels[group], std::uint64_t{value->runs},
                                  number(value->median, unit), number(value->min, unit), number(value->max, unit),
                                  value->median == 0 ? Cell{} : Cell((value->max - value->min) / value->median),
                                  row.measure.name});
            table.row_units.push_back(unit);
        }
    }
    return table;
}

Table curve_table(const Comparison& comparison, bool bars) {
    auto rates = comparison.values("images_per_s");
    const bool by_wall = std::any_of(rates.begin(), rates.end(), [](const auto& rate) { return !rate; });
    if (by_wall) {
        rates = comparison.values("images_per_s_wall");
    }
    const auto times = comparison.values(by_wall ? "wall_per_image" : "time_per_image");
    const auto utilisation = comparison.values("utilisation");
    double best = 0;
    for (const auto& rate : rates) {
        best = std::max(best, rate ? rate->median : 0);
    }
    Table table{"curve",
                "Saturation",
                by_wall ? "over wall time, start-up included" : "from the first to the last GPU activity",
                {},
                {},
                {}};
    table.columns = {{"trace", "trace", Unit::kText},
                     {"images_per_s", "images/s", Unit::kNumber},
                     {"share_of_best", "% of best", Unit::kShare},
                     {"time_per_image_ns", "an image", Unit::kDurationNs},
                     {"utilisation", "% utilisation", Unit::kShare}};
    if (bars) {
        table.columns.push_back({"bar", "", Unit::kText});
    }
    std::string saturated;
    for (std::size_t group = 0; group < rates.size(); ++group) {
        const auto median = [group](const auto& values) {
            return values[group] ? std::optional(values[group]->median) : std::nullopt;
        };
        const auto rate = median(rates);
        const double share = rate && best > 0 ? *rate / best : 0;
        table.rows.push_back({comparison.labels[group], number(rate, Unit::kNumber), rate ? Cell(share) : Cell{},
                              number(median(times), Unit::kDurationNs), number(median(utilisation), Unit::kShare)});
        if (bars) {
            table.rows.back().emplace_back(
                std::string(static_cast<std::size_t>(std::lround(share * kBarColumns)), '#'));
        }
        if (saturated.empty() && share >= kSaturated) {
            saturated = comparison.labels[group];
        }
    }
    if (saturated.empty()) {
        table.notes.emplace_back("images/s are not known: --images says how many there were");
    } else {
        table.notes.push_back(fmt::format("first with at least {:.0f} % of the best: {}", 100 * kSaturated, saturated));
    }
    return table;
}

Table changes_table(const Comparison& comparison, const std::vector<Change>& changes, bool calls) {
    Table table{calls ? "calls" : "kernels",
                calls ? "Calls that differ" : "Kernels that differ",
                "greatest difference in time first",
                {},
                {},
                {}};
    table.columns = {{"trace", "trace", Unit::kText},
                     {"change", "change", Unit::kText},
                     {"first_count", "first", Unit::kCount},
                     {"count", "count", Unit::kCount},
                     {"first_time_ns", "first", Unit::kDurationNs},
                     {"time_ns", "time", Unit::kDurationNs},
                     {"difference_ns", "difference", Unit::kDurationNs},
                     {"time_ratio", "ratio", Unit::kNumber}};
    if (calls) {
        table.columns.push_back({"library", "library", Unit::kText});
    }
    table.columns.push_back({"name", calls ? "call" : "kernel", calls ? Unit::kText : Unit::kName});
    for (const Change& change : changes) {
        const char* kind = change.kind == ChangeKind::kAdded  ? "added"
                           : change.kind == ChangeKind::kGone ? "gone"
                                                              : "changed";
        const bool both = change.first_time_ns && change.time_ns;
        std::vector<Cell> cells = {
            comparison.labels[change.group],
            std::string(kind),
            number(change.first_count, Unit::kCount),
            number(change.count, Unit::kCount),
            number(change.first_time_ns, Unit::kDurationNs),
            number(change.time_ns, Unit::kDurationNs),
            both ? number(*change.time_ns - *change.first_time_ns, Unit::kDurationNs) : Cell{},
            both && *change.first_time_ns != 0 ? Cell(*change.time_ns / *change.first_time_ns) : Cell{}};
        if (calls) {
            cells.emplace_back(change.library);
        }
        cells.emplace_back(change.name);
        table.rows.push_back(std::move(cells));
    }
    return table;
}

}  // namespace

std::vector<Table> comparison_tables(const Comparison& comparison, const ComparisonTableOptions& options) {
    std::vector<Table> tables = {traces_table(comparison)};
    for (Table& table : measures_tables(comparison, options)) {
        tables.push_back(std::move(table));
    }
    tables.push_back(spread_table(comparison));
    if (options.curve) {
        tables.push_back(curve_table(comparison, options.for_text));
    }
    tables.push_back(changes_table(comparison, comparison.kernels, false));
    tables.push_back(changes_table(comparison, comparison.calls, true));
    return tables;
}

}  // namespace gpuspy::analysis

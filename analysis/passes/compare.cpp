#include "analysis/passes/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace gpuspy::analysis {
namespace {

std::optional<Spread> spread_in(const RunGroup& group, const std::string& measure) {
    std::vector<double> known;
    for (const TraceFacts& run : group.runs) {
        if (const auto value = run.value(measure)) {
            known.push_back(*value);
        }
    }
    return spread_of(std::move(known));
}

/// The fixed ones and one for each library that any trace has, those for each image last.
std::vector<Measure> measures_of(std::span<const RunGroup> groups) {
    std::set<std::string> shares;
    std::set<std::string> calls;
    for (const RunGroup& group : groups) {
        for (const TraceFacts& run : group.runs) {
            for (const auto& [library, share] : run.kernel_shares) {
                shares.insert("share." + library);
            }
            for (const auto& [library, count] : run.library_calls) {
                calls.insert("calls." + library);
            }
        }
    }
    std::vector<Measure> measures(fixed_measures().begin(), fixed_measures().end());
    for (const std::set<std::string>* names : {&shares, &calls}) {
        for (const std::string& name : *names) {
            measures.push_back(*find_measure(name));
        }
    }
    return measures;
}

std::vector<std::size_t> best_of(const Measure& measure, const std::vector<std::optional<Spread>>& values) {
    std::vector<std::size_t> best;
    std::size_t known = 0;
    for (std::size_t group = 0; group < values.size() && measure.better != Better::kNeither; ++group) {
        if (!values[group]) {
            continue;
        }
        ++known;
        const double value = values[group]->median;
        const double leader = best.empty() ? value : values[best.front()]->median;
        if (measure.better == Better::kLess ? value < leader : value > leader) {
            best.clear();
        }
        if (best.empty() || value == leader) {
            best.push_back(group);
        }
    }
    return best.size() == known ? std::vector<std::size_t>{} : best;
}

ComparedMeasure compared(const Measure& measure, std::span<const RunGroup> groups) {
    ComparedMeasure result{measure, {}, {}, {}};
    for (const RunGroup& group : groups) {
        result.values.push_back(spread_in(group, measure.name));
        const auto& first = result.values.front();
        const auto& value = result.values.back();
        const bool comparable = result.values.size() > 1 && first && value && first->median != 0;
        result.ratios.push_back(comparable ? std::optional(value->median / first->median) : std::nullopt);
    }
    result.best = best_of(measure, result.values);
    return result;
}

/// Library (empty for kernels) and name.
using Key = std::pair<std::string, std::string>;
using Totals = std::map<Key, NamedTotal>;

struct MedianTotal {
    double count = 0;
    std::optional<double> time_ns;
};

Totals kernel_totals(const TraceFacts& run, const CompareOptions& options) {
    Totals totals;
    for (const auto& [mangled, total] : run.kernels) {
        NamedTotal& sum = totals[{"", options.kernel_name(mangled)}];
        sum.count += total.count;
        if (total.time_ns) {
            sum.time_ns = sum.time_ns.value_or(0) + *total.time_ns;
        }
    }
    return totals;
}

/// Over the runs of a group; what a run has not is 0 in it.
std::map<Key, MedianTotal> medians(const std::vector<Totals>& runs, bool times_known) {
    std::map<Key, MedianTotal> result;
    for (const Totals& run : runs) {
        for (const auto& [key, total] : run) {
            result.try_emplace(key);
        }
    }
    for (auto& [key, median] : result) {
        std::vector<double> counts;
        std::vector<double> times;
        for (const Totals& run : runs) {
            const auto found = run.find(key);
            const NamedTotal total = found == run.end() ? NamedTotal{} : found->second;
            counts.push_back(static_cast<double>(total.count));
            times.push_back(static_cast<double>(total.time_ns.value_or(0)));
        }
        median.count = spread_of(std::move(counts))->median;
        if (times_known) {
            median.time_ns = spread_of(std::move(times))->median;
        }
    }
    return result;
}

bool differs(double first, double other, double threshold) {
    return std::abs(other - first) > threshold * first;
}

void add_changes(std::size_t group, const std::map<Key, MedianTotal>& first, const std::map<Key, MedianTotal>& other,
                 double threshold, std::vector<Change>& changes) {
    std::set<Key> keys;
    for (const auto* totals : {&first, &other}) {
        for (const auto& [key, total] : *totals) {
            keys.insert(key);
        }
    }
    const std::size_t begin = changes.size();
    for (const Key& key : keys) {
        const auto before = first.find(key);
        const auto after = other.find(key);
        const MedianTotal a = before == first.end() ? MedianTotal{} : before->second;
        const MedianTotal b = after == other.end() ? MedianTotal{} : after->second;
        const bool added = before == first.end() || (a.count == 0 && b.count != 0);
        const bool gone = after == other.end() || (b.count == 0 && a.count != 0);
        const bool changed = differs(a.count, b.count, threshold) ||
                             (a.time_ns && b.time_ns && differs(*a.time_ns, *b.time_ns, threshold));
        if (added || gone || changed) {
            changes.push_back({group,
                               added  ? ChangeKind::kAdded
                               : gone ? ChangeKind::kGone
                                      : ChangeKind::kChanged,
                               key.first, key.second, a.count, b.count, a.time_ns, b.time_ns});
        }
    }
    const auto weight = [](const Change& change) {
        return std::pair(std::abs(change.time_ns.value_or(0) - change.first_time_ns.value_or(0)),
                         std::abs(change.count - change.first_count));
    };
    std::stable_sort(changes.begin() + static_cast<std::ptrdiff_t>(begin), changes.end(),
                     [&](const Change& a, const Change& b) { return weight(a) > weight(b); });
}

/// `totals_of(run)`: Totals. `times_known(run)`: whether its times are.
template <class TotalsOf, class TimesKnown>
std::vector<Change> changes_between(std::span<const RunGroup> groups, double threshold, const TotalsOf& totals_of,
                                    const TimesKnown& times_known) {
    std::vector<Change> changes;
    std::map<Key, MedianTotal> first;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        const std::vector<TraceFacts>& runs = groups[group].runs;
        std::vector<Totals> totals;
        std::transform(runs.begin(), runs.end(), std::back_inserter(totals), totals_of);
        auto median = medians(totals, std::all_of(runs.begin(), runs.end(), times_known));
        if (group == 0) {
            first = std::move(median);
        } else {
            add_changes(group, first, median, threshold, changes);
        }
    }
    return changes;
}

}  // namespace

std::optional<Spread> spread_of(std::vector<double> values) {
    if (values.empty()) {
        return std::nullopt;
    }
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return Spread{median, values.front(), values.back(), values.size()};
}

std::vector<std::optional<Spread>> Comparison::values(const std::string& measure) const {
    std::vector<std::optional<Spread>> result;
    for (const RunGroup& group : groups) {
        result.push_back(spread_in(group, measure));
    }
    return result;
}

Comparison compare(std::vector<RunGroup> groups, const CompareOptions& options) {
    Comparison result;
    for (const RunGroup& group : groups) {
        result.labels.push_back(group.label);
    }
    for (const Measure& measure : measures_of(groups)) {
        ComparedMeasure row = compared(measure, groups);
        if (std::any_of(row.values.begin(), row.values.end(), [](const auto& value) { return value.has_value(); })) {
            result.measures.push_back(std::move(row));
        }
    }
    result.kernels = changes_between(
        groups, options.threshold, [&](const TraceFacts& run) { return kernel_totals(run, options); },
        [](const TraceFacts& run) { return run.device_times; });
    result.calls = changes_between(
        groups, options.threshold, [](const TraceFacts& run) { return Totals(run.calls); },
        [](const TraceFacts&) { return true; });
    result.notes = comparison_notes(groups);
    result.groups = std::move(groups);
    return result;
}

}  // namespace gpuspy::analysis

// Traces side by side: totals with their ratios to the first, what was added, what is gone, what changed, and what cannot be
// compared. docs/comparing.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/passes/trace_facts.hpp"

namespace gpuspy::analysis {

/// Runs of the same thing, which are compared by their median.
struct RunGroup {
    std::string label;
    std::vector<TraceFacts> runs;  ///< At least one.
};

/// Of the runs in which the value is known.
struct Spread {
    double median = 0, min = 0, max = 0;
    std::size_t runs = 0;
};

/// Of an even number the mean of the middle two. nullopt without values.
std::optional<Spread> spread_of(std::vector<double> values);

struct ComparedMeasure {
    Measure measure;
    std::vector<std::optional<Spread>> values;  ///< By group.
    /// By group: median / the first's median. nullopt for the first, where one is not known, and where the first's is 0.
    std::vector<std::optional<double>> ratios;
    std::vector<std::size_t> best;  ///< Groups; empty where nothing is better, or all are the same.
};

enum class ChangeKind : std::uint8_t { kAdded, kGone, kChanged };

/// A kernel or an API of a group that is not as in the first.
struct Change {
    std::size_t group = 0;
    ChangeKind kind = ChangeKind::kChanged;
    std::string library;  ///< Of calls.
    std::string name;
    double first_count = 0, count = 0;             ///< Medians.
    std::optional<double> first_time_ns, time_ns;  ///< Medians; nullopt where they are not known.
};

struct CompareOptions {
    double threshold =
        0.1;  ///< A count or a time that differs by no more than this share of the first's is not changed.
    /// How kernels are told apart, and shown.
    std::function<std::string(const std::string& mangled)> kernel_name = [](const std::string& name) { return name; };
};

struct Comparison {
    std::vector<RunGroup> groups;           ///< As they were given.
    std::vector<std::string> labels;        ///< Of the groups.
    std::vector<ComparedMeasure> measures;  ///< Those that are known of at least one group.
    std::vector<Change> kernels, calls;     ///< By group, then the greatest difference in time first.
    std::vector<std::string> notes;         ///< What cannot be compared, or with care: sentences.

    /// Any measure, of this comparison or not: "share.X" of a library that none uses too.
    [[nodiscard]] std::vector<std::optional<Spread>> values(const std::string& measure) const;
};

/// `groups`: at least one.
Comparison compare(std::vector<RunGroup> groups, const CompareOptions& options);

/// What must be said before the numbers of these groups are compared.
std::vector<std::string> comparison_notes(std::span<const RunGroup> groups);

}  // namespace gpuspy::analysis

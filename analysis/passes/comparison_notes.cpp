#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "analysis/passes/compare.hpp"

namespace gpuspy::analysis {
namespace {

struct LabelledRun {
    std::string label;
    const TraceFacts* run;
};

std::vector<LabelledRun> labelled(std::span<const RunGroup> groups) {
    std::vector<LabelledRun> runs;
    for (const RunGroup& group : groups) {
        for (std::size_t number = 0; number < group.runs.size(); ++number) {
            runs.push_back({group.runs.size() == 1 ? group.label : fmt::format("{}, run {}", group.label, number + 1),
                            &group.runs[number]});
        }
    }
    return runs;
}

/// "NVIDIA A100 (a), NVIDIA H200 (b, c)", or "" if all say the same. What is not said by a run is "not known".
std::string differences(const std::vector<LabelledRun>& runs, const std::function<std::string(const TraceFacts&)>& of) {
    std::map<std::string, std::vector<std::string>> labels;
    for (const LabelledRun& one : runs) {
        const std::string value = of(*one.run);
        labels[value.empty() ? "not known" : value].push_back(one.label);
    }
    if (labels.size() < 2) {
        return {};
    }
    std::vector<std::string> parts;
    for (const auto& [value, who] : labels) {
        parts.push_back(fmt::format("{} ({})", value, fmt::join(who, ", ")));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string gpu_names(const TraceFacts& run) {
    return fmt::format("{}", fmt::join(run.gpus, " + "));
}

/// What is compared, where it is not all of each trace.
void note_parts(const std::vector<LabelledRun>& runs, std::vector<std::string>& notes) {
    const auto part = [](const TraceFacts& run) { return run.part; };
    if (std::all_of(runs.begin(), runs.end(), [&](const LabelledRun& one) { return one.run->part.empty(); })) {
        return;
    }
    const std::string parts = differences(runs, part);
    notes.push_back("a part of each trace is compared: " + (parts.empty() ? runs.front().run->part : parts) +
                    "; lost and complete are of the whole recording");
}

void note_what_lacks(const LabelledRun& one, std::vector<std::string>& notes) {
    const auto& [label, run] = one;
    if (!run->kept.empty()) {
        notes.push_back(label + ": the last part of a recording (GPUSPY_LAST), " + run->kept +
                        ": what was before is in none of its numbers");
    }
    if (run->partial) {
        notes.push_back(label + ": can be read in part only: its counts and times are lower bounds");
    }
    if (!run->device_times) {
        notes.push_back(label + ": " + run->no_device_times +
                        ": GPU time, busy, utilisation, concurrency, shares and kernel "
                        "times are not compared, nor kernels of graphs");
    } else if (run->untimed_launches != 0) {
        notes.push_back(
            fmt::format("{}: {} of its launches were made while device times were not recorded: its GPU "
                        "times are lower bounds",
                        label, run->untimed_launches));
    }
    if (!run->incomplete.empty()) {
        notes.push_back(fmt::format("{}: not complete: {}", label, fmt::join(run->incomplete, "; ")));
    }
    if (run->died) {
        notes.push_back(fmt::format("{}: {}: it may not have done all its work", label, run->end));
    }
    if (run->cpu_since_process_start) {
        notes.push_back(label + ": its CPU time is since the process began, not since the recording did");
    }
}

void note_versions(const std::vector<LabelledRun>& runs, std::vector<std::string>& notes) {
    std::set<std::string> names;
    for (const LabelledRun& one : runs) {
        for (const auto& [name, version] : one.run->versions) {
            names.insert(name);
        }
    }
    std::vector<std::string> parts;
    for (const std::string& name : names) {
        // A library that a run has not loaded is no other version of it.
        std::vector<LabelledRun> having;
        std::copy_if(runs.begin(), runs.end(), std::back_inserter(having),
                     [&](const LabelledRun& one) { return one.run->versions.count(name) != 0; });
        const std::string text = differences(having, [&](const TraceFacts& run) { return run.versions.at(name); });
        if (!text.empty()) {
            parts.push_back(fmt::format("{} {}", name, text));
        }
    }
    if (!parts.empty()) {
        notes.push_back(fmt::format("different versions: {}", fmt::join(parts, "; ")));
    }
}

}  // namespace

std::vector<std::string> comparison_notes(std::span<const RunGroup> groups) {
    const std::vector<LabelledRun> runs = labelled(groups);
    std::vector<std::string> notes;
    note_parts(runs, notes);
    if (const std::string gpus = differences(runs, gpu_names); !gpus.empty()) {
        notes.push_back("different GPUs: " + gpus + ": times are of the machine as much as of the program");
    }
    if (const std::string hosts = differences(runs, [](const TraceFacts& run) { return run.host; }); !hosts.empty()) {
        notes.push_back("different machines: " + hosts + ": wall, API, CPU and synchronisation times are theirs too");
    }
    note_versions(runs, notes);
    if (const std::string formats = differences(runs, [](const TraceFacts& run) { return run.format; });
        !formats.empty()) {
        notes.push_back("different trace formats: " + formats +
                        ": calls that only the newer one records count as added, or make its totals higher");
    }
    for (const LabelledRun& one : runs) {
        note_what_lacks(one, notes);
    }
    return notes;
}

}  // namespace gpuspy::analysis

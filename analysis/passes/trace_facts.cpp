#include "analysis/passes/trace_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace gpuspy::analysis {
namespace {

constexpr std::string_view kShare = "share.";
constexpr std::string_view kCalls = "calls.";

/// A total for each image that was worked through: `total` / images, or images / `total` in seconds.
struct PerImage {
    Measure measure;
    const char* total;
    bool is_rate;
};

const std::vector<PerImage>& per_image_measures() {
    static const std::vector<PerImage> kMeasures = {
        {{"images_per_s", "images/s", Unit::kNumber, Better::kMore}, "gpu_span", true},
        {{"images_per_s_wall", "images/s of wall", Unit::kNumber, Better::kMore}, "wall", true},
        {{"time_per_image", "time per image", Unit::kDurationNs, Better::kLess}, "gpu_span", false},
        {{"wall_per_image", "wall per image", Unit::kDurationNs, Better::kLess}, "wall", false},
        {{"busy_per_image", "GPU busy per image", Unit::kDurationNs, Better::kLess}, "busy", false},
        {{"launches_per_image", "launches per image", Unit::kNumber, Better::kLess}, "launches", false},
    };
    return kMeasures;
}

/// From the first begin to the last end of a device record, over devices: CUPTI's clock is one for all.
std::optional<double> gpu_span_ns(const Model& model) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const auto& [ordinal, device] : model.devices) {
        if (!device.busy.empty()) {
            first = std::min(first, device.busy.first_ns());
            last = std::max(last, device.busy.last_ns());
        }
    }
    return first < last ? std::optional(static_cast<double>(last - first)) : std::nullopt;
}

void add_device_times(const Model& model, const Findings& findings, TraceFacts& facts) {
    const DeviceTime& all = findings.gpu.all;
    std::map<std::string, double>& values = facts.values;
    values["gpu_time"] = static_cast<double>(all.time_ns);
    values["kernel_time"] = static_cast<double>(all.kernel_ns);
    values["copy_time"] = static_cast<double>(all.copy_ns + all.set_ns);
    values["busy"] = static_cast<double>(all.busy_ns);
    values["utilisation"] = all.utilisation;
    if (all.busy_ns != 0) {
        values["concurrency"] = all.concurrency;
    }
    if (const auto span = gpu_span_ns(model)) {
        values["gpu_span"] = *span;
    }
    if (findings.sync.gpu_known) {
        values["sync_idle"] = static_cast<double>(findings.sync.gpu_idle_ns);
    }
    for (const LibraryRow& row : findings.libraries) {
        facts.kernel_shares[share_owner(row.library, row.owner)] += row.share_of_kernels;
    }
}

void add_counts(const Findings& findings, TraceFacts& facts) {
    const LaunchCounts& launches = findings.completeness.launches;
    std::map<std::string, double>& values = facts.values;
    values["launches"] = static_cast<double>(launches.host);
    values["graph_launches"] = static_cast<double>(launches.graph_launches);
    std::uint64_t calls = 0;
    for (const CallRow& row : findings.calls) {
        facts.calls[{row.library, row.name}] = {row.count, row.duration.time_ns};
        facts.library_calls[row.library] += static_cast<double>(row.outermost);
        calls += row.count;
    }
    values["api_calls"] = static_cast<double>(calls);
    std::uint64_t kernels = 0;
    for (const KernelRow& row : findings.kernels) {
        NamedTotal& total = facts.kernels[row.mangled];
        total.count += row.count;
        if (facts.device_times) {
            total.time_ns = total.time_ns.value_or(0) + row.duration.time_ns;
        }
        kernels += row.count;
    }
    // A graph's launch does not say which kernels it ran.
    if (facts.device_times || launches.graph_launches == 0) {
        values["kernels"] = static_cast<double>(kernels);
        values["distinct_kernels"] = static_cast<double>(facts.kernels.size());
    }
    std::uint64_t copies = 0;
    std::uint64_t bytes = 0;
    for (const CopyRow& row : findings.copies) {
        if (row.direction != "memset") {
            copies += row.count;
            bytes += row.bytes;
        }
    }
    values["copies"] = static_cast<double>(copies);
    values["copied_bytes"] = static_cast<double>(bytes);
}

void add_losses(const Findings& findings, TraceFacts& facts) {
    const Completeness& completeness = findings.completeness;
    std::uint64_t lost = 0;
    for (const LossRow& loss : completeness.losses) {
        lost += loss.cause == "unmapped_pointer" ? 0 : loss.count;
    }
    if (facts.device_times) {
        facts.values["unmatched"] =
            static_cast<double>(completeness.launches.unmatched_launches + completeness.launches.unmatched_records);
    }
    facts.values["lost"] = static_cast<double>(lost);
    facts.values["complete"] = completeness.complete ? 1 : 0;
}

void add_identity(const RunInfo& run, TraceFacts& facts) {
    if (run.process) {
        facts.command = fmt::format("{}", fmt::join(run.process->argv, " "));
        facts.host = run.process->host;
        facts.versions["gpuspy"] = run.process->gpuspy_version;
    }
    for (const DeviceRecord& device : run.devices) {
        facts.gpus.push_back(device.name);
    }
    for (const auto& [key, value] : run.info) {
        constexpr std::string_view kSuffix = "_version";
        if (key.ends_with(kSuffix)) {
            facts.versions[key.substr(0, key.size() - kSuffix.size())] = value;
        }
    }
    for (const FrameworkLibrary& library : run.libraries) {
        if (!library.version.empty()) {
            facts.versions[library.name] = library.version;
        }
    }
    facts.format = fmt::format("{}.{}", run.reading.format_major, run.reading.format_minor);
    facts.end = run.end_text;
    facts.died = !run.ended_cleanly || run.wait_status.value_or(0) != 0;
    facts.partial = run.reading.partial();
}

/// "share.cudnn" -> "cudnn"; empty if it does not begin so.
std::string behind(std::string_view prefix, std::string_view name) {
    return name.starts_with(prefix) ? std::string(name.substr(prefix.size())) : std::string();
}

}  // namespace

std::string share_owner(const std::string& library, const std::string& owner) {
    return !library.empty() ? library : owner == "unknown" ? "unknown" : "own";
}

TraceFacts trace_facts(const Model& model, const Findings& findings) {
    TraceFacts facts;
    add_identity(findings.run, facts);
    facts.incomplete = findings.completeness.reasons;
    if (findings.run.kept) {
        facts.kept = findings.run.kept->text;
    }
    facts.device_times = findings.completeness.device_times;
    facts.untimed_launches = findings.completeness.launches.untimed;
    facts.values["wall"] = static_cast<double>(findings.run.wall_ns);
    facts.values["api_time"] = static_cast<double>(findings.api.time_ns);
    facts.values["sync_time"] = static_cast<double>(findings.sync.time_ns);
    if (findings.cpu.known) {
        facts.values["cpu_time"] = static_cast<double>(findings.cpu.user_ns + findings.cpu.system_ns);
        facts.cpu_since_process_start = findings.cpu.since_process_start;
    }
    if (facts.device_times) {
        add_device_times(model, findings, facts);
    }
    add_counts(findings, facts);
    add_losses(findings, facts);
    return facts;
}

std::optional<double> TraceFacts::value(std::string_view measure) const {
    const auto of = [](const std::map<std::string, double>& map, const std::string& key) {
        const auto found = map.find(key);
        return found == map.end() ? std::nullopt : std::optional(found->second);
    };
    if (const std::string library = behind(kShare, measure); !library.empty()) {
        return device_times ? std::optional(of(kernel_shares, library).value_or(0)) : std::nullopt;
    }
    if (const std::string library = behind(kCalls, measure); !library.empty()) {
        return of(library_calls, library).value_or(0);
    }
    for (const PerImage& one : per_image_measures()) {
        if (one.measure.name == measure) {
            const auto total = of(values, one.total);
            if (!images || !total || (one.is_rate && *total == 0)) {
                return std::nullopt;
            }
            return one.is_rate ? *images / (*total / 1e9) : *total / *images;
        }
    }
    return of(values, std::string(measure));
}

std::span<const Measure> fixed_measures() {
    static const std::vector<Measure> kMeasures = [] {
        std::vector<Measure> measures = {
            {"wall", "wall time", Unit::kDurationNs, Better::kLess},
            {"gpu_span", "first to last GPU activity", Unit::kDurationNs, Better::kLess},
            {"gpu_time", "GPU time, all", Unit::kDurationNs, Better::kLess},
            {"kernel_time", "GPU time, kernels", Unit::kDurationNs, Better::kLess},
            {"copy_time", "GPU time, copies and sets", Unit::kDurationNs, Better::kLess},
            {"busy", "GPU busy", Unit::kDurationNs, Better::kLess},
            {"utilisation", "utilisation, %", Unit::kShare, Better::kMore},
            {"concurrency", "concurrency", Unit::kNumber, Better::kNeither},
            {"api_time", "API time", Unit::kDurationNs, Better::kLess},
            {"cpu_time", "CPU time", Unit::kDurationNs, Better::kLess},
            {"sync_time", "synchronisation time", Unit::kDurationNs, Better::kLess},
            {"sync_idle", "of it, GPU idle", Unit::kDurationNs, Better::kLess},
            {"launches", "launches", Unit::kCount, Better::kLess},
            {"graph_launches", "graph launches", Unit::kCount, Better::kNeither},
            {"kernels", "kernels executed", Unit::kCount, Better::kLess},
            {"distinct_kernels", "distinct kernels", Unit::kCount, Better::kNeither},
            {"copies", "copies", Unit::kCount, Better::kLess},
            {"copied_bytes", "copied", Unit::kBytes, Better::kLess},
            {"api_calls", "recorded calls", Unit::kCount, Better::kNeither},
            {"unmatched", "unmatched", Unit::kCount, Better::kNeither},
            {"lost", "events lost", Unit::kCount, Better::kNeither},
            {"complete", "complete (1: yes)", Unit::kCount, Better::kNeither},
        };
        for (const PerImage& one : per_image_measures()) {
            measures.push_back(one.measure);
            measures.back().per_image = true;
        }
        return measures;
    }();
    return kMeasures;
}

std::optional<Measure> find_measure(std::string_view name) {
    if (const std::string library = behind(kShare, name); !library.empty()) {
        return Measure{std::string(name),
                       library == "own" ? "kernel time, no library, %" : "kernel time, " + library + ", %",
                       Unit::kShare, Better::kNeither};
    }
    if (const std::string library = behind(kCalls, name); !library.empty()) {
        return Measure{std::string(name), "outermost calls of " + library, Unit::kCount, Better::kNeither};
    }
    const auto measures = fixed_measures();
    const auto found =
        std::find_if(measures.begin(), measures.end(), [&](const Measure& measure) { return measure.name == name; });
    return found == measures.end() ? std::nullopt : std::optional(*found);
}

}  // namespace gpuspy::analysis

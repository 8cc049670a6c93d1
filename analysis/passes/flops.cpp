#include "analysis/passes/flops.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace gpuspy::analysis {
namespace {

constexpr double kNsPerS = 1e9;

std::optional<double> quotient(double part, double whole) {
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

/// Time at a peak; nullopt once a peak was not known.
class TimeAtPeak {
public:
    void add(double amount, const std::optional<double>& per_s) {
        if (!per_s) {
            known_ = false;
        } else {
            ns_ += amount / *per_s * kNsPerS;
        }
    }
    [[nodiscard]] std::optional<double> ns() const { return known_ ? std::optional(ns_) : std::nullopt; }
    [[nodiscard]] std::optional<double> share_of(std::uint64_t whole_ns) const {
        return known_ ? quotient(ns_, static_cast<double>(whole_ns)) : std::nullopt;
    }

private:
    double ns_ = 0;
    bool known_ = true;
};

std::optional<double> per_second(double flops, std::uint64_t ns) {
    return quotient(flops * kNsPerS, static_cast<double>(ns));
}

double flops_of(const WorkExecution& execution) {
    return static_cast<double>(execution.answer.work.flops) * execution.share;
}
double bytes_of(const WorkExecution& execution) {
    return static_cast<double>(execution.answer.work.least_bytes) * execution.share;
}

struct Sum {
    CoveredTime time;
    std::uint64_t busy_ns = 0, devices = 0;
    double flops = 0;
    bool any_known = false;
    TimeAtPeak at_peak;
};

void add_execution(Sum& sum, const WorkExecution& execution, const FlopsDevice& device) {
    switch (execution.answer.kind) {
        case WorkAnswer::Kind::kKnown:
            sum.any_known = true;
            sum.flops += flops_of(execution);
            sum.time.known_ns += execution.kernel_ns;
            sum.at_peak.add(flops_of(execution), device.peaks.of(execution.answer.work.type).best());
            break;
        case WorkAnswer::Kind::kZero:
            sum.time.zero_ns += execution.kernel_ns;
            break;
        case WorkAnswer::Kind::kUnknown:
            sum.time.unknown_ns += execution.kernel_ns;
            break;
        case WorkAnswer::Kind::kComputesNothing:
            break;
    }
}

FlopsTotal total_of(const std::string& name, const Sum& sum, std::uint64_t wall_ns) {
    FlopsTotal total;
    total.device = name;
    total.time = sum.time;
    const std::uint64_t in_calls = sum.time.known_ns + sum.time.zero_ns + sum.time.unknown_ns;
    total.time.other_ns = sum.time.kernel_ns > in_calls ? sum.time.kernel_ns - in_calls : 0;
    total.busy_ns = sum.busy_ns;
    total.covered = quotient(static_cast<double>(sum.time.known_ns), static_cast<double>(sum.time.kernel_ns));
    if (sum.any_known) {
        total.flops = sum.flops;
        total.per_s_of_wall = per_second(sum.flops, wall_ns);
        total.per_s_of_busy = per_second(sum.flops, sum.busy_ns);
        total.utilisation_of_wall = sum.at_peak.share_of(wall_ns * sum.devices);
        total.utilisation_of_busy = sum.at_peak.share_of(sum.busy_ns);
    }
    return total;
}

std::vector<FlopsTotal> totals_of(const FlopsInput& input) {
    std::vector<Sum> sums(input.devices.size());
    Sum all;
    for (std::size_t i = 0; i < input.devices.size(); ++i) {
        for (Sum* const sum : {&sums[i], &all}) {
            sum->time.kernel_ns += input.devices[i].kernel_ns;
            sum->busy_ns += input.devices[i].busy_ns;
            ++sum->devices;
        }
    }
    for (const WorkExecution& execution : input.executions) {
        const FlopsDevice& device = input.devices[execution.device];
        add_execution(sums[execution.device], execution, device);
        add_execution(all, execution, device);
    }
    std::vector<FlopsTotal> totals;
    for (std::size_t i = 0; i < input.devices.size(); ++i) {
        totals.push_back(total_of(input.devices[i].name, sums[i], input.wall_ns));
    }
    if (totals.size() > 1) {
        totals.push_back(total_of("all", all, input.wall_ns));
    }
    return totals;
}

std::vector<FlopsRow> rows_of(const FlopsInput& input) {
    struct Group {
        FlopsRow row;
        double timed_flops = 0;
        TimeAtPeak arithmetic, memory;
    };
    std::map<std::tuple<std::string_view, std::string_view, Operation, MathType>, Group> groups;
    for (const WorkExecution& execution : input.executions) {
        if (execution.answer.kind != WorkAnswer::Kind::kKnown) continue;
        const Work& work = execution.answer.work;
        Group& group = groups[{execution.library, execution.api, work.operation, work.type}];
        ++group.row.executions;
        group.row.kernels += execution.kernels;
        group.row.flops += flops_of(execution);
        group.row.least_bytes += bytes_of(execution);
        if (execution.timed) {
            const DevicePeaks& peaks = input.devices[execution.device].peaks;
            group.row.gpu_ns += execution.gpu_ns;
            group.timed_flops += flops_of(execution);
            group.arithmetic.add(flops_of(execution), peaks.of(work.type).best());
            group.memory.add(bytes_of(execution), peaks.bytes.best());
        }
    }
    std::vector<FlopsRow> rows;
    for (auto& [key, group] : groups) {
        FlopsRow& row = group.row;
        row.library = std::get<0>(key);
        row.api = std::get<1>(key);
        row.operation = std::get<2>(key);
        row.type = std::get<3>(key);
        row.intensity = quotient(row.flops, row.least_bytes);
        row.per_s = per_second(group.timed_flops, row.gpu_ns);
        row.share_of_peak = group.arithmetic.share_of(row.gpu_ns);
        const auto arithmetic_ns = group.arithmetic.ns(), memory_ns = group.memory.ns();
        if (arithmetic_ns && memory_ns) {
            row.share_of_roof = quotient(std::max(*arithmetic_ns, *memory_ns), static_cast<double>(row.gpu_ns));
            row.memory_bound = row.gpu_ns > 0 ? std::optional(*memory_ns > *arithmetic_ns) : std::nullopt;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<TypeRow> types_of(const FlopsInput& input) {
    struct Group {
        double flops = 0, timed_flops = 0;
        std::uint64_t gpu_ns = 0;
    };
    std::map<std::pair<std::size_t, MathType>, Group> groups;
    for (const WorkExecution& execution : input.executions) {
        if (execution.answer.kind != WorkAnswer::Kind::kKnown) continue;
        Group& group = groups[{execution.device, execution.answer.work.type}];
        group.flops += flops_of(execution);
        group.timed_flops += execution.timed ? flops_of(execution) : 0;
        group.gpu_ns += execution.timed ? execution.gpu_ns : 0;
    }
    std::vector<TypeRow> rows;
    for (const auto& [key, group] : groups) {
        const FlopsDevice& device = input.devices[key.first];
        TypeRow row;
        row.device = device.name;
        row.type = key.second;
        row.flops = group.flops;
        row.gpu_ns = group.gpu_ns;
        row.per_s = per_second(group.timed_flops, group.gpu_ns);
        row.peak = device.peaks.of(key.second);
        if (const auto peak = row.peak.best(); peak && row.per_s) row.share_of_peak = *row.per_s / *peak;
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<UnknownRow> unknown_of(const FlopsInput& input) {
    struct Group {
        UnknownRow row;
        std::uint64_t kernel_ns = 0;
    };
    std::map<std::tuple<std::string_view, std::string_view, Unknown>, Group> groups;
    std::uint64_t all_ns = 0;
    for (const FlopsDevice& device : input.devices) all_ns += device.kernel_ns;
    for (const WorkExecution& execution : input.executions) {
        if (execution.answer.kind != WorkAnswer::Kind::kUnknown) continue;
        Group& group = groups[{execution.library, execution.api, execution.answer.cause}];
        ++group.row.executions;
        group.row.gpu_ns += execution.gpu_ns;
        group.kernel_ns += execution.kernel_ns;
    }
    std::vector<UnknownRow> rows;
    for (auto& [key, group] : groups) {
        UnknownRow& row = group.row;
        row.library = std::get<0>(key);
        row.api = std::get<1>(key);
        row.cause = std::get<2>(key);
        row.share_of_kernels = quotient(static_cast<double>(group.kernel_ns), static_cast<double>(all_ns));
        rows.push_back(std::move(row));
    }
    return rows;
}

template <class Row>
void longest_first(std::vector<Row>& rows) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.gpu_ns > b.gpu_ns; });
}

}  // namespace

FlopsReport flops_report(const FlopsInput& input) {
    FlopsReport report{totals_of(input), rows_of(input), types_of(input), unknown_of(input)};
    longest_first(report.rows);
    longest_first(report.types);
    longest_first(report.unknown);
    return report;
}

}  // namespace gpuspy::analysis

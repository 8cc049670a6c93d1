#include "analysis/passes/part_facts.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "analysis/passes/activity_edges.hpp"
#include "analysis/passes/concurrency.hpp"
#include "analysis/passes/kernel_uses.hpp"
#include "analysis/passes/ratio.hpp"
#include "analysis/passes/sync_sites.hpp"
#include "analysis/passes/thread_calls.hpp"

namespace gpuspy::analysis {
namespace {

double number(std::uint64_t count) {
    return static_cast<double>(count);
}

void add_calls(const Model& model, const Timeline& part, TraceFacts& facts) {
    std::uint64_t calls = 0;
    for (const CallRow& row : call_table(model, part)) {
        facts.calls[{row.library, row.name}] = {row.count, row.duration.time_ns};
        facts.library_calls[row.library] += number(row.outermost);
        calls += row.count;
    }
    std::uint64_t api_ns = 0;
    for (const ThreadCalls& thread : thread_table(model, part)) {
        api_ns += thread.api_ns;
    }
    std::uint64_t launches = 0;
    std::uint64_t graph_launches = 0;
    for (const HostCall& call : part.own_calls()) {
        launches += call.is_launch ? 1 : 0;
        graph_launches += call.is_launch && !call.has(abi::kCallStatus) && !call.has(abi::kCallCaptured) &&
                                  model.index.symbols.api(call.api).api_class == abi::ApiClass::kGraphLaunch
                              ? 1
                              : 0;
    }
    facts.values["api_calls"] = number(calls);
    facts.values["api_time"] = number(api_ns);
    facts.values["launches"] = number(launches);
    facts.values["graph_launches"] = number(graph_launches);
}

void add_waits(const Model& model, const Timeline& part, bool devices_known, TraceFacts& facts) {
    std::uint64_t time_ns = 0;
    std::uint64_t busy_ns = 0;
    for (const SyncThreadUse& thread : sync_sites(model, part).threads) {
        time_ns += thread.time_ns;
        busy_ns += thread.gpu_busy_ns.value_or(0);
    }
    facts.values["sync_time"] = number(time_ns);
    if (devices_known && part.device_clock_known) {
        facts.values["sync_idle"] = number(time_ns - busy_ns);
    }
}

void add_kernels(const Model& model, const Timeline& part, TraceFacts& facts) {
    std::uint64_t kernels = 0;
    for (const KernelUse& use : kernel_uses(model, part, false)) {
        NamedTotal& total = facts.kernels[use.mangled];
        total.count += use.count;
        total.time_ns = total.time_ns.value_or(0) + use.duration.time_ns;
        kernels += use.count;
        facts.kernel_shares[share_owner(use.library, use.owner)] += use.share_of_kernels;
    }
    facts.values["kernels"] = number(kernels);
    facts.values["distinct_kernels"] = number(facts.kernels.size());
}

void add_activities(const Timeline& part, bool copies_known, TraceFacts& facts) {
    std::uint64_t kernel_ns = 0, copy_ns = 0, copies = 0, bytes = 0;
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
    const Interval range = range_of(part);
    for (const DeviceActivity& activity : part.activities) {
        const bool kernel = activity.record.kind == ActivityKind::kKernel;
        if (activity.record.kind == ActivityKind::kMemcpy) {
            ++copies;
            bytes += activity.record.bytes;
        }
        if (activity.timed) {
            (kernel ? kernel_ns : copy_ns) += activity.record.duration_ns;
            const Interval inside = cut_to(activity, range);
            first_ns = std::min(first_ns, inside.begin_ns);
            last_ns = std::max(last_ns, inside.end_ns);
        }
    }
    facts.values["kernel_time"] = number(kernel_ns);
    if (copies_known) {
        facts.values["copy_time"] = number(copy_ns);
        facts.values["copies"] = number(copies);
        facts.values["copied_bytes"] = number(bytes);
    }
    facts.values["gpu_time"] = number(kernel_ns + copy_ns);
    if (first_ns < last_ns) {
        facts.values["gpu_span"] = static_cast<double>(last_ns - first_ns);
    }
}

void add_busy(const Model& model, const Timeline& part, const Selection& selection, TraceFacts& facts) {
    std::uint64_t busy_ns = 0;
    std::uint64_t sum_ns = 0;
    for (const DeviceConcurrency& device : concurrency(model, part).devices) {
        busy_ns += device.busy_ns;
        sum_ns += device.sum_ns;
    }
    facts.values["busy"] = number(busy_ns);
    // The mean over the devices that did something in the recording, as of a whole one.
    const std::uint64_t devices = selection.device ? 1 : model.devices.size();
    facts.values["utilisation"] = ratio(busy_ns, part.wall_ns() * devices);
    if (busy_ns != 0) {
        facts.values["concurrency"] = ratio(sum_ns, busy_ns);
    }
}

}  // namespace

TraceFacts part_facts(const Model& model, const Timeline& part, const Selection& selection, const std::string& words) {
    TraceFacts facts = trace_facts(model, find_totals(model));
    const std::map<std::string, double> whole = std::move(facts.values);
    facts.values.clear();
    facts.kernels.clear();
    facts.calls.clear();
    facts.kernel_shares.clear();
    facts.library_calls.clear();
    facts.part = words;
    const bool by_time = selection.from_ns || selection.to_ns;
    for (const char* name : {"lost", "complete", "cpu_time"}) {
        const auto found = whole.find(name);
        if (found != whole.end() && !(by_time && found->first == "cpu_time")) {
            facts.values.insert(*found);
        }
    }
    facts.cpu_since_process_start = facts.cpu_since_process_start && !by_time;
    facts.values["wall"] = number(part.wall_ns());
    if (facts.device_times && by_time && !part.device_clock_known) {
        facts.device_times = false;
        facts.no_device_times =
            "the device's clock is not related to the host's, so what ran in a range of time is not known";
    }
    add_calls(model, part, facts);
    add_waits(model, part, facts.device_times, facts);
    if (facts.device_times) {
        add_kernels(model, part, facts);
        add_activities(part, selection.wants_kernel == nullptr, facts);
        add_busy(model, part, selection, facts);
    }
    return facts;
}

}  // namespace gpuspy::analysis

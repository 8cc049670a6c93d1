#include "analysis/render/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "analysis/render/display_text.hpp"
#include "analysis/render/verdict_text.hpp"

namespace gpuspy::analysis {
namespace {

using Json = nlohmann::ordered_json;

/// The first `top` rows of a table, each by `make`.
template <class Rows, class Make>
Json rows_json(const Rows& rows, std::size_t top, Make make) {
    Json list = Json::array();
    for (const auto& row : rows) {
        if (list.size() == top) {
            break;
        }
        list.push_back(make(row));
    }
    return list;
}

/// What has no time has none of these: not recorded is not 0.
template <class Value>
Json timed_json(const DurationStats& duration, const Value& value) {
    return duration.timed == 0 ? Json(nullptr) : Json(value);
}

void add_duration(Json& json, const DurationStats& duration) {
    json["timed"] = duration.timed;
    json["time_ns"] = timed_json(duration, duration.time_ns);
    json["avg_ns"] = timed_json(duration, duration.avg_ns);
    json["med_ns"] = timed_json(duration, duration.med_ns);
    json["med_exact"] = duration.med_exact;
    json["min_ns"] = timed_json(duration, duration.min_ns);
    json["max_ns"] = timed_json(duration, duration.max_ns);
}

Json optional_text(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json device_json(const DeviceTime& device) {
    return {{"ordinal", device.ordinal},         {"name", optional_text(device.name)},
            {"time_ns", device.time_ns},         {"kernel_time_ns", device.kernel_ns},
            {"copy_time_ns", device.copy_ns},    {"set_time_ns", device.set_ns},
            {"busy_ns", device.busy_ns},         {"concurrency", device.concurrency},
            {"utilisation", device.utilisation}, {"kernels", device.kernels},
            {"copies", device.copies},           {"sets", device.sets},
            {"untimed", device.untimed}};
}

Json gpu_json(const Findings& findings) {
    Json gpu = device_json(findings.gpu.all);
    gpu.erase("ordinal");
    gpu.erase("name");
    if (!findings.completeness.device_times) {
        for (const char* key :
             {"time_ns", "kernel_time_ns", "copy_time_ns", "set_time_ns", "busy_ns", "concurrency", "utilisation"}) {
            gpu[key] = nullptr;  // not recorded is not 0
        }
    }
    gpu["devices"] = rows_json(findings.gpu.devices, std::numeric_limits<std::size_t>::max(), device_json);
    return gpu;
}

Json launches_json(const Completeness& all, std::size_t top) {
    const LaunchCounts& n = all.launches;
    Json dropped = Json::object();
    for (const LossRow& loss : all.losses) {
        dropped[loss.cause] = loss.count;
    }
    return {{"host", n.host},
            {"captured", n.captured},
            {"failed", n.failed},
            {"untimed", n.untimed},
            {"unhooked", n.unhooked},
            {"graph_launches", n.graph_launches},
            {"graph_nodes", n.graph_nodes},
            {"unknown_graphs", n.unknown_graphs},
            {"conditional_graphs", n.conditional_graphs},
            {"expected", n.expected},
            {"device_records", n.device_records},
            {"matched", n.matched},
            {"matched_beyond", n.matched_beyond},
            {"untimed_records", all.untimed_records},
            {"not_returned", n.not_returned},
            {"unmatched_launches", n.unmatched_launches},
            {"unmatched_records", n.unmatched_records},
            {"without_correlation", n.without_correlation},
            {"dropped", dropped},
            {"device_times", all.device_times},
            {"complete", all.complete},
            {"reasons", all.reasons},
            {"unmatched", rows_json(all.unmatched, top, [](const UnmatchedRow& row) {
                 return Json{{"name", demangled(row.mangled)},
                             {"mangled", row.mangled},
                             {"launches", row.launches},
                             {"records", row.records},
                             {"not_returned", row.not_returned}};
             })}};
}

/// Of a flight recorder's trace alone.
Json kept_json(const KeptInfo& kept, const LaunchCounts& launches) {
    const auto known = [](std::uint64_t value) { return value == 0 ? Json(nullptr) : Json(value); };
    return {{"from_realtime_ns", known(kept.from_realtime_ns)},
            {"to_realtime_ns", known(kept.to_realtime_ns)},
            {"length_ns", kept.length_ns},
            {"limit_ns", known(kept.dropped.limit_ns)},
            {"limit_bytes", known(kept.dropped.limit_bytes)},
            {"dropped_calls", kept.dropped.calls},
            {"dropped_device_records", kept.dropped.device_records},
            {"dropped_range_events", kept.dropped.ranges},
            {"dropped_blocks", kept.dropped.blocks},
            {"dropped_bytes", kept.dropped.bytes},
            {"launched_before", launches.launched_before_kept},
            {"returned_before", launches.returned_before_kept}};
}

Json sync_json(const Sync& sync, std::size_t top) {
    Json json = {
        {"time_ns", sync.time_ns}, {"share_of_wall", sync.share_of_wall}, {"any_thread_ns", sync.any_thread_ns}};
    json["gpu_busy_ns"] = sync.gpu_known ? Json(sync.gpu_busy_ns) : Json(nullptr);
    json["gpu_idle_ns"] = sync.gpu_known ? Json(sync.gpu_idle_ns) : Json(nullptr);
    json["threads"] = rows_json(sync.threads, top, [](const SyncThread& thread) {
        return Json{{"tid", thread.tid},
                    {"name", optional_text(thread.name)},
                    {"time_ns", thread.time_ns},
                    {"share_of_wall", thread.share_of_wall}};
    });
    json["calls"] = rows_json(sync.calls, top, [&sync](const SyncCall& call) {
        return Json{{"name", call.name},
                    {"library", call.library},
                    {"time_ns", call.time_ns},
                    {"share_of_wall", call.share_of_wall},
                    {"gpu_busy_ns", sync.gpu_known ? Json(call.gpu_busy_ns) : Json(nullptr)}};
    });
    return json;
}

Json kernel_json(const KernelRow& row) {
    Json json = {{"name", demangled(row.mangled)}, {"mangled", row.mangled}, {"count", row.count}};
    add_duration(json, row.duration);
    json["library"] = optional_text(row.library);
    json["owner"] = row.owner;
    json["owner_by_graph_launch"] = row.owner_by_graph_launch;
    json["share_of_kernels"] = timed_json(row.duration, row.share_of_kernels);
    json["share_of_wall"] = timed_json(row.duration, row.share_of_wall);
    return json;
}

Json call_json(const CallRow& row) {
    Json json = {{"name", row.name},
                 {"library", row.library},
                 {"count", row.count},
                 {"failed", row.failed},
                 {"outermost", row.outermost}};
    add_duration(json, row.duration);
    return json;
}

Json copy_json(const CopyRow& row) {
    Json json = {{"direction", row.direction}, {"count", row.count}, {"bytes", row.bytes}};
    add_duration(json, row.duration);
    json["gb_per_s"] = timed_json(row.duration, row.gb_per_s);
    return json;
}

Json process_json(const RunInfo& run, const LaunchCounts& launches) {
    Json json = Json::object();
    if (run.process) {
        const ProcessRecord& process = *run.process;
        json = {{"pid", process.pid},
                {"ppid", process.ppid},
                {"rank", process.rank >= 0 ? Json(process.rank) : Json(nullptr)},
                {"host", process.host},
                {"exe", process.exe},
                {"cwd", process.cwd},
                {"argv", process.argv},
                {"environment", process.environment},
                {"start_realtime_ns", process.start_realtime_ns},
                {"gpuspy_version", process.gpuspy_version}};
    }
    json["threads"] = run.threads;
    json["ended_cleanly"] = run.ended_cleanly;
    json["salvaged"] = run.salvaged;
    json["wait_status"] = run.wait_status ? Json(*run.wait_status) : Json(nullptr);
    json["wait_pid"] = run.wait_pid == 0 ? Json(nullptr) : Json(run.wait_pid);
    json["end"] = run.end_text;
    json["info"] = run.info;
    json["gpus"] = rows_json(run.devices, std::numeric_limits<std::size_t>::max(), [](const DeviceRecord& device) {
        return Json{{"ordinal", device.ordinal},
                    {"name", device.name},
                    {"pci", device.pci},
                    {"compute_capability", {device.cc_major, device.cc_minor}},
                    {"sm_count", device.sm_count},
                    {"sm_clock_khz", device.sm_clock_khz},
                    {"memory_clock_khz", device.memory_clock_khz},
                    {"bus_width_bits", device.bus_width_bits},
                    {"memory_bytes", device.memory_bytes}};
    });
    json["libraries"] =
        rows_json(run.libraries, std::numeric_limits<std::size_t>::max(), [](const FrameworkLibrary& library) {
            return Json{{"name", library.name}, {"version", optional_text(library.version)}};
        });
    json["notices"] = run.notices;
    if (run.kept) {
        json["kept"] = kept_json(*run.kept, launches);
    }
    if (run.reading.write_error != 0) {
        json["write_error"] = ::strerror(run.reading.write_error);
    }
    return json;
}

Json reading_json(const ReadSummary& reading) {
    return {{"format", std::to_string(reading.format_major) + "." + std::to_string(reading.format_minor)},
            {"file_bytes", reading.file_bytes},
            {"blocks", reading.blocks},
            {"partial", reading.partial()},
            {"faults", reading.describe()},
            {"bad_blocks", reading.bad_blocks},
            {"skipped_bytes", reading.skipped_bytes},
            {"tail_bytes", reading.tail_bytes},
            {"missing_blocks", reading.missing_blocks},
            {"bad_records", reading.bad_records},
            {"orphan_records", reading.orphan_records},
            {"unknown_records", reading.unknown_records}};
}

Json overhead_json(const Overhead& cost) {
    return {{"estimate", true},
            {"known", cost.known},
            {"calls", cost.calls},
            {"call_ns", cost.call_ns},
            {"calls_ns", cost.calls_ns},
            {"drain_ns", cost.drain_ns},
            {"callback_ns", cost.callback_ns},
            {"total_ns", cost.total_ns},
            {"share_of_wall", cost.share_of_wall}};
}

Json verdict_json(const std::optional<Verdict>& verdict) {
    return verdict ? Json{{"bound", bound_text(verdict->bound)},
                          {"text", verdict_text(*verdict)},
                          {"span_ns", verdict->span_ns},
                          {"kernels_ns", verdict->kernels_ns},
                          {"copies_ns", verdict->copies_ns},
                          {"sync_ns", verdict->sync_ns},
                          {"copy_calls_ns", verdict->copy_calls_ns},
                          {"launch_ns", verdict->launch_ns},
                          {"host_ns", verdict->host_ns},
                          {"queued_ns", verdict->queued_ns},
                          {"not_known_ns", verdict->not_known_ns}}
                   : Json(nullptr);
}

Json steady_json(const Findings& findings) {
    if (!findings.steady_verdict) {
        return nullptr;
    }
    const Iterations& found = *findings.iterations;
    const auto warm = std::count_if(found.rows.begin(), found.rows.end(),
                                    [](const Iteration& row) { return row.kind == IterationKind::kWarmUp; });
    return {{"iterations", found.rows.size()},
            {"warm_up", warm},
            {"launches_each", found.launches},
            {"median_ns", found.median_ns},
            {"verdict", verdict_json(findings.steady_verdict)}};
}

}  // namespace

std::string render_json(const Findings& findings, const JsonOptions& options) {
    const std::size_t top = options.top == 0 ? std::numeric_limits<std::size_t>::max() : options.top;
    const CpuTime& cpu = findings.cpu;
    const ApiTime& api = findings.api;
    Json json;
    json["schema"] = kJsonSchema;
    json["wall_ns"] = findings.run.wall_ns;
    json["process"] = process_json(findings.run, findings.completeness.launches);
    json["launches"] = launches_json(findings.completeness, top);
    json["gpu"] = gpu_json(findings);
    json["api"] = {
        {"time_ns", api.time_ns}, {"calls", api.calls}, {"threads", api.threads}, {"share_of_wall", api.share_of_wall}};
    json["cpu"] = {{"known", cpu.known},
                   {"user_ns", cpu.user_ns},
                   {"system_ns", cpu.system_ns},
                   {"own_ns", cpu.own_ns},
                   {"since_process_start", cpu.since_process_start},
                   {"share_of_wall", cpu.share_of_wall}};
    json["sync"] = sync_json(findings.sync, top);
    json["kernels"] = rows_json(findings.kernels, top, kernel_json);
    json["owners"] = rows_json(findings.libraries, top, [&findings](const LibraryRow& row) {
        const bool known = findings.completeness.device_times;
        return Json{{"library", optional_text(row.library)},
                    {"owner", row.owner},
                    {"kernels", row.kernels},
                    {"count", row.count},
                    {"time_ns", known ? Json(row.time_ns) : Json(nullptr)},
                    {"share_of_kernels", known ? Json(row.share_of_kernels) : Json(nullptr)}};
    });
    json["calls"] = rows_json(findings.calls, top, call_json);
    json["collectives"] = rows_json(findings.collectives, top, [](const CollectiveRow& row) {
        return Json{{"name", row.name},
                    {"library", row.library},
                    {"datatype", optional_text(row.datatype)},
                    {"communicator", row.communicator},
                    {"rank", row.rank >= 0 ? Json(row.rank) : Json(nullptr)},
                    {"ranks", row.ranks >= 0 ? Json(row.ranks) : Json(nullptr)},
                    {"count", row.count},
                    {"failed", row.failed},
                    {"bytes", row.bytes},
                    {"host_ns", row.host_ns}};
    });
    json["copies"] = rows_json(findings.copies, top, copy_json);
    json["verdict"] = verdict_json(findings.verdict);
    json["steady"] = steady_json(findings);
    json["overhead"] = overhead_json(findings.overhead);
    json["reading"] = reading_json(findings.run.reading);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpuspy::analysis

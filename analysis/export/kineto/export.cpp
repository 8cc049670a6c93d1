// JSON as torch.profiler writes it (kineto's Chrome trace). What readers expect of it, and what upsets them, is in
// docs/exports.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/export/activity_names.hpp"
#include "analysis/export/kineto/json_rows.hpp"
#include "analysis/export/kineto/range_rows.hpp"
#include "analysis/export/launch_rows.hpp"
#include "analysis/export/placement.hpp"
#include "analysis/export/registry.hpp"

namespace gpuspy::analysis {
namespace {

using kineto::integer;
using kineto::microseconds;
using kineto::quoted;

class KinetoWriter {
public:
    KinetoWriter(const Model& model, ByteSink& sink)
        : model_(model),
          timeline_(*model.timeline),
          placement_(place_activities(timeline_)),
          rows_(api_rows(model, timeline_)),
          out_(sink) {}

    void write() {
        header();
        names();
        calls();
        kineto::write_ranges(model_, pid(), out_);
        device();
        out_.text("\n]}\n");
        out_.flush();
    }

private:
    [[nodiscard]] std::uint64_t pid() const { return model_.index.process ? model_.index.process->pid : 0; }
    [[nodiscard]] std::string time(std::int64_t ns) const { return microseconds(ns - timeline_.begin_ns); }

    void header() {
        out_.text("{\n\"schemaVersion\": 1,\n");
        // Readers look for "rank": and a space, line by line.
        if (model_.index.process && model_.index.process->rank >= 0) {
            out_.text(fmt::format("\"distributedInfo\": {{\"rank\": {}}},\n", model_.index.process->rank));
        }
        if (model_.index.process) {
            const ProcessRecord& process = *model_.index.process;
            // The date of the rows' time 0.
            const std::int64_t since_start = timeline_.begin_ns - static_cast<std::int64_t>(process.start_monotonic_ns);
            out_.text(fmt::format("\"baseTimeNanoseconds\": {},\n",
                                  static_cast<std::int64_t>(process.start_realtime_ns) + since_start));
        }
        std::vector<std::string> devices;
        for (const auto& [ordinal, device] : model_.index.devices) {
            devices.push_back(fmt::format(
                R"({{"id": {}, "name": {}, "totalGlobalMem": {}, "computeMajor": {}, "computeMinor": {}, "numSms": {}}})",
                integer(ordinal), quoted(device.name), integer(device.memory_bytes), integer(device.cc_major),
                integer(device.cc_minor), integer(device.sm_count)));
        }
        std::vector<std::string> notes;
        for (const std::string& sentence : remarks(placement_)) {
            notes.push_back(quoted(sentence));
        }
        out_.text(
            fmt::format("\"deviceProperties\": [{}],\n\"gpuspy\": {{\"notes\": [{}]}},\n\"displayTimeUnit\": \"ms\",\n"
                        "\"traceEvents\": [",
                        fmt::join(devices, ", "), fmt::join(notes, ", ")));
    }

    void name_row(const char* what, std::uint64_t pid, std::uint64_t tid, const std::string& key,
                  const std::string& value) {
        out_.row(fmt::format(R"({{"ph": "M", "name": "{}", "ts": 0.000, "pid": {}, "tid": {}, "args": {{"{}": {}}}}})",
                             what, integer(pid), integer(tid), key, value));
    }

    void names() {
        const std::string program = quoted(
            model_.index.process && !model_.index.process->argv.empty() ? model_.index.process->argv.front() : "");
        name_row("process_name", pid(), 0, "name", program);
        name_row("process_labels", pid(), 0, "labels", quoted("CPU"));
        name_row("process_sort_index", pid(), 0, "sort_index", "0");
        for (const ThreadInfo& thread : model_.index.symbols.threads()) {
            name_row("thread_name", pid(), thread.tid, "name",
                     quoted(fmt::format("thread {} ({})", thread.tid, thread.name)));
        }
        std::map<std::uint64_t, std::uint64_t> free_tid;  // by device: above all its streams
        for (const StreamTrack& track : placement_.tracks) {
            const auto [device, is_new] = free_tid.try_emplace(track.device, 0);
            device->second = std::max(device->second, track.stream + 1);
            if (is_new) {
                name_row("process_name", track.device, 0, "name", program);
                name_row("process_labels", track.device, 0, "labels", quoted(fmt::format("GPU {}", track.device)));
                name_row("process_sort_index", track.device, 0, "sort_index",
                         std::to_string(integer(track.device) + 1));
            }
        }
        for (const StreamTrack& track : placement_.tracks) {
            // Rows of one tid must not overlap, or a viewer drops them; the stream itself is in the row's args.
            const std::uint64_t tid = track.sibling == 0 ? track.stream : free_tid[track.device]++;
            track_tids_.push_back(tid);
            name_row("thread_name", track.device, tid, "name",
                     quoted(fmt::format("stream {}{}", track.stream, track.sibling == 0 ? "" : ", overlapping")));
        }
    }

    void calls() {
        for (std::uint32_t position = 0; position < timeline_.calls.size() && out_.good(); ++position) {
            const HostCall& call = timeline_.calls[position];
            const ApiInfo& api = model_.index.symbols.api(call.api);
            const bool library = api.level == abi::ApiLevel::kLibrary;
            if (!library && rows_[position] != position) {
                continue;
            }
            std::string args = library ? fmt::format(R"("library": {})", quoted(api.library))
                                       : fmt::format(R"("correlation": {})", correlation(position));
            args += fmt::format(R"(, "owner": {})", quoted(model_.owners.at(call.owner).name));
            if (call.has(abi::kCallStatus)) {
                args += fmt::format(R"(, "status": {})", call.status);
            }
            const char* category = library                                ? "cpu_op"
                                   : api.level == abi::ApiLevel::kRuntime ? "cuda_runtime"
                                                                          : "cuda_driver";
            out_.row(fmt::format(
                R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
                category, quoted(library ? api.name : public_name(api.name)), integer(pid()), tid_of(call),
                time(call.begin_ns), microseconds(static_cast<std::int64_t>(call.duration_ns())), args));
        }
    }

    void device() {
        for (std::size_t track = 0; track < placement_.tracks.size(); ++track) {
            for (const PlacedActivity& placed : placement_.tracks[track].activities) {
                if (!out_.good()) {
                    return;
                }
                activity(placed, track_tids_[track]);
            }
        }
    }

    void activity(const PlacedActivity& placed, std::uint64_t tid) {
        const DeviceActivity& activity = timeline_.activities[placed.activity];
        const ActivityRecord& record = activity.record;
        const std::uint32_t row = activity.call == kNone ? kNone : rows_[activity.call];
        std::string args = fmt::format(R"("device": {}, "context": {}, "stream": {}, "correlation": {}, "owner": {})",
                                       integer(record.device), integer(record.context), integer(record.stream),
                                       row == kNone ? unlinked(placed.activity) : correlation(row),
                                       quoted(model_.owners.at(activity.owner).name));
        if (record.has(abi::kDeviceGraph)) {
            args += fmt::format(R"(, "graph node id": {})", integer(record.graph_node));
        }
        if (record.kind == ActivityKind::kKernel) {
            args +=
                fmt::format(R"(, "registers per thread": {}, "shared memory": {}, "grid": [{}], "block": [{}])",
                            record.registers, std::uint64_t{record.static_shared_bytes} + record.dynamic_shared_bytes,
                            fmt::join(record.grid, ", "), fmt::join(record.block, ", "));
        } else {
            const double bytes_per_ns = static_cast<double>(record.bytes) / static_cast<double>(record.duration_ns);
            args += fmt::format(R"json(, "bytes": {}, "memory bandwidth (GB/s)": {})json", integer(record.bytes),
                                bytes_per_ns);
        }
        const char* category = record.kind == ActivityKind::kKernel   ? "kernel"
                               : record.kind == ActivityKind::kMemcpy ? "gpu_memcpy"
                                                                      : "gpu_memset";
        out_.row(fmt::format(
            R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
            category, name_of(record), integer(record.device), integer(tid), time(placed.begin_ns),
            microseconds(placed.end_ns - placed.begin_ns), args));
        if (row != kNone) {
            arrow(row, record, placed, tid);
        }
    }

    /// From the launch to what it launched; HolisticTraceAnalysis takes `correlation` instead.
    void arrow(std::uint32_t row, const ActivityRecord& record, const PlacedActivity& placed, std::uint64_t tid) {
        ++arrows_;
        out_.row(
            fmt::format(R"({{"ph": "s", "id": {}, "cat": "ac2g", "name": "ac2g", "pid": {}, "tid": {}, "ts": {}}})",
                        arrows_, integer(pid()), tid_of(timeline_.calls[row]), time(timeline_.calls[row].begin_ns)));
        out_.row(fmt::format(
            R"({{"ph": "f", "id": {}, "cat": "ac2g", "name": "ac2g", "pid": {}, "tid": {}, "ts": {}, "bp": "e"}})",
            arrows_, integer(record.device), integer(tid), time(placed.begin_ns)));
    }

    [[nodiscard]] std::uint32_t tid_of(const HostCall& call) const {
        return model_.index.symbols.threads()[call.thread].tid;
    }
    /// Of a row: CUPTI's ids come again in a long run, and calls that it did not see have none.
    [[nodiscard]] static std::uint64_t correlation(std::uint32_t row) { return std::uint64_t{row} + 1; }
    /// Of a device record without a call: an id that no row has.
    [[nodiscard]] std::uint64_t unlinked(std::uint32_t activity) const {
        return timeline_.calls.size() + std::uint64_t{activity} + 1;
    }

    const std::string& name_of(const ActivityRecord& record) {
        if (record.kind != ActivityKind::kKernel) {
            return name_ = quoted(activity_name(model_, record));
        }
        const auto [found, added] = kernel_names_.try_emplace(record.name);
        if (added) {
            found->second = quoted(activity_name(model_, record));
        }
        return found->second;
    }

    const Model& model_;
    const Timeline& timeline_;
    const Placement placement_;
    const std::vector<std::uint32_t> rows_;
    kineto::RowWriter out_;
    std::vector<std::uint64_t> track_tids_;  // by Placement::tracks
    std::unordered_map<std::uint32_t, std::string> kernel_names_;
    std::string name_;
    std::uint64_t arrows_ = 0;
};

}  // namespace

void export_kineto(const Model& model, ByteSink& sink) {
    KinetoWriter(model, sink).write();
}

}  // namespace gpuspy::analysis

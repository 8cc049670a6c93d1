// A trace for ui.perfetto.dev and trace_processor: threads with nested calls, streams, arrows from launches to what they
// launched, counters. docs/exports.md lists it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/export/activity_names.hpp"
#include "analysis/export/nested_tracks.hpp"
#include "analysis/export/perfetto/counters.hpp"
#include "analysis/export/perfetto/packet_writer.hpp"
#include "analysis/export/perfetto/range_slices.hpp"
#include "analysis/export/placement.hpp"
#include "analysis/export/registry.hpp"
#include "analysis/passes/latency.hpp"
#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis {
namespace {

namespace pb = gpuspy::perfetto;
using pb::TrackEvent;

std::uint64_t date_at_ns(const Model& model, std::int64_t monotonic_ns) {
    if (!model.index.process) {
        return 0;
    }
    const ProcessRecord& process = *model.index.process;
    return process.start_realtime_ns + static_cast<std::uint64_t>(monotonic_ns) - process.start_monotonic_ns;
}

class PerfettoWriter {
public:
    PerfettoWriter(const Model& model, ByteSink& sink)
        : model_(model),
          timeline_(*model.timeline),
          placement_(place_activities(timeline_)),
          out_(sink, static_cast<std::uint64_t>(std::max<std::int64_t>(0, timeline_.begin_ns)),
               date_at_ns(model, timeline_.begin_ns)) {}

    void write() {
        link_calls();
        process();
        threads();
        devices();
        out_.flush();
    }

private:
    /// Which activities a call launched: its arrows.
    void link_calls() {
        for (const StreamTrack& track : placement_.tracks) {
            for (const PlacedActivity& placed : track.activities) {
                const std::uint32_t call = timeline_.activities[placed.activity].call;
                if (call != kNone) {
                    launched_.emplace_back(call, placed.activity);
                }
            }
        }
        std::sort(launched_.begin(), launched_.end());
    }

    /// Of the arrow to an activity.
    [[nodiscard]] static std::uint64_t flow_id(std::uint32_t activity) { return std::uint64_t{activity} + 1; }

    [[nodiscard]] std::int32_t pid() const {
        return model_.index.process ? static_cast<std::int32_t>(model_.index.process->pid) : 0;
    }

    void process() {
        pb::TrackDescriptor& track = out_.track();
        pb::ProcessDescriptor& process = *track.mutable_process();
        process.set_pid(pid());
        if (model_.index.process && !model_.index.process->argv.empty()) {
            process.set_process_name(printable(model_.index.process->argv.front()));
            for (const std::string& word : model_.index.process->argv) {
                process.add_cmdline(printable(word));
            }
        }
        process_track_ = track.uuid();
        out_.write();
    }

    std::uint64_t thread_track(const ThreadInfo& thread) {
        pb::TrackDescriptor& track = out_.track();
        track.set_parent_uuid(process_track_);
        pb::ThreadDescriptor& descriptor = *track.mutable_thread();
        descriptor.set_pid(pid());
        descriptor.set_tid(thread.tid);
        descriptor.set_thread_name(printable(thread.name));
        const std::uint64_t uuid = track.uuid();
        out_.write();
        return uuid;
    }

    void threads() {
        std::map<std::uint32_t, std::vector<std::uint32_t>> calls;  // by thread; none of one that has ranges alone
        for (std::uint32_t position = 0; position < timeline_.calls.size(); ++position) {
            calls[timeline_.calls[position].thread].push_back(position);
        }
        for (const HostRange& range : timeline_.ranges) {
            calls.try_emplace(range.thread);
        }
        std::map<std::uint32_t, std::uint64_t> thread_tracks;
        for (const auto& [thread, positions] : calls) {
            const ThreadInfo& info = model_.index.symbols.threads()[thread];
            thread_tracks[thread] = thread_track(info);
            thread_calls(info, thread_tracks[thread], positions);
        }
        perfetto::RangeSlices(model_, out_).write(process_track_, thread_tracks);
    }

    void thread_calls(const ThreadInfo& thread, std::uint64_t track, const std::vector<std::uint32_t>& positions) {
        std::vector<std::uint64_t> tracks = {track};
        const auto begin = [&](std::size_t sibling, std::uint32_t position) {
            if (sibling == tracks.size()) {
                tracks.push_back(out_.named_track(tracks.front(), fmt::format("thread {}, not nested", thread.tid)));
            }
            call(tracks[sibling], position);
        };
        NestedTracks nested(begin,
                            [&](std::size_t sibling, std::int64_t end_ns) { out_.end_slice(tracks[sibling], end_ns); });
        for (const std::uint32_t position : positions) {
            if (!out_.good()) {
                return;
            }
            const HostCall& call = timeline_.calls[position];
            nested.add(position, call.begin_ns, std::max(call.begin_ns, call.end_ns));
        }
        nested.finish();
    }

    void call(std::uint64_t track, std::uint32_t position) {
        const HostCall& call = timeline_.calls[position];
        const ApiInfo& api = model_.index.symbols.api(call.api);
        TrackEvent& event = out_.event(TrackEvent::TYPE_SLICE_BEGIN, track, call.begin_ns);
        out_.name(api.name);
        out_.category(api.library);
        const auto first = std::lower_bound(launched_.begin(), launched_.end(), std::pair(position, std::uint32_t{0}));
        for (auto launched = first; launched != launched_.end() && launched->first == position; ++launched) {
            event.add_flow_ids(flow_id(launched->second));
        }
        out_.annotate("owner", model_.owners.at(call.owner).name);
        if (call.has(abi::kCallStatus)) {
            out_.annotate("status", call.status);
        }
        if (call.has(abi::kCallCopy)) {
            out_.annotate("bytes", call.copy_bytes);
        }
        if (call.has(abi::kCallCaptured)) {
            out_.annotate("captured", std::uint64_t{1});
        }
        out_.write();
    }

    void devices() {
        std::map<std::uint64_t, std::uint64_t> device_tracks;
        for (const StreamTrack& track : placement_.tracks) {
            const auto [device, is_new] = device_tracks.try_emplace(track.device, 0);
            if (is_new) {
                device->second = device_track(track.device);
            }
            // A viewer puts tracks of one name and parent together.
            const std::uint64_t uuid = out_.named_track(device->second, fmt::format("stream {}", track.stream));
            for (const PlacedActivity& placed : track.activities) {
                if (!out_.good()) {
                    return;
                }
                activity(uuid, placed);
            }
        }
        std::map<std::uint64_t, QueueSteps> queues = queue_steps(model_, timeline_);
        for (const auto& [device, track] : device_tracks) {
            counter(track, "in flight", perfetto::in_flight(placement_, device));
            counter(track, "queue depth", perfetto::counter(std::move(queues[device].waiting)));
        }
    }

    std::uint64_t device_track(std::uint64_t device) {
        const auto found = model_.index.devices.find(device);
        const std::string name = found == model_.index.devices.end() ? "" : ": " + found->second.name;
        return out_.named_track(process_track_, fmt::format("GPU {}{}", device, name));
    }

    void activity(std::uint64_t track, const PlacedActivity& placed) {
        const DeviceActivity& activity = timeline_.activities[placed.activity];
        const ActivityRecord& record = activity.record;
        TrackEvent& event = out_.event(TrackEvent::TYPE_SLICE_BEGIN, track, placed.begin_ns);
        out_.name(name_of(record));
        out_.category(record.kind == ActivityKind::kKernel   ? "kernel"
                      : record.kind == ActivityKind::kMemcpy ? "copy"
                                                             : "set");
        if (activity.call != kNone) {
            event.add_terminating_flow_ids(flow_id(placed.activity));
        }
        out_.annotate("owner", model_.owners.at(activity.owner).name);
        out_.annotate("correlation", record.correlation);
        if (record.has(abi::kDeviceGraph)) {
            out_.annotate("graph node", record.graph_node);
        }
        if (record.kind == ActivityKind::kKernel) {
            out_.annotate("grid", size_text(record.grid));
            out_.annotate("block", size_text(record.block));
            out_.annotate("registers", std::uint64_t{record.registers});
            out_.annotate("static_shared_bytes", std::uint64_t{record.static_shared_bytes});
            out_.annotate("dynamic_shared_bytes", std::uint64_t{record.dynamic_shared_bytes});
        } else {
            out_.annotate("bytes", record.bytes);
            out_.annotate("GB/s", static_cast<double>(record.bytes) / static_cast<double>(record.duration_ns));
        }
        out_.write();
        out_.end_slice(track, placed.end_ns);
    }

    static std::string size_text(const std::array<std::uint32_t, 3>& size) {
        return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
    }

    void counter(std::uint64_t device, const char* name, const std::vector<perfetto::CounterPoint>& points) {
        if (points.empty()) {
            return;
        }
        pb::TrackDescriptor& track = out_.track();
        track.set_parent_uuid(device);
        track.set_name(name);
        track.mutable_counter()->set_unit(pb::CounterDescriptor::UNIT_COUNT);
        const std::uint64_t uuid = track.uuid();
        out_.write();
        out_.event(TrackEvent::TYPE_COUNTER, uuid, timeline_.begin_ns).set_counter_value(0);
        out_.write();
        for (const perfetto::CounterPoint& point : points) {
            out_.event(TrackEvent::TYPE_COUNTER, uuid, point.at_ns).set_counter_value(point.value);
            out_.write();
        }
    }

    const std::string& name_of(const ActivityRecord& record) {
        if (record.kind != ActivityKind::kKernel) {
            return name_ = activity_name(model_, record);
        }
        const auto [found, added] = kernel_names_.try_emplace(record.name);
        if (added) {
            found->second = activity_name(model_, record);
        }
        return found->second;
    }

    const Model& model_;
    const Timeline& timeline_;
    const Placement placement_;
    perfetto::PacketWriter out_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> launched_;  // call, activity; sorted
    std::unordered_map<std::uint32_t, std::string> kernel_names_;
    std::string name_;
    std::uint64_t process_track_ = 0;
};

}  // namespace

void export_perfetto(const Model& model, ByteSink& sink) {
    PerfettoWriter(model, sink).write();
}

}  // namespace gpuspy::analysis

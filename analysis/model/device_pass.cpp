#include "analysis/model/device_pass.hpp"

#include <algorithm>
#include <limits>

namespace gpuspy::analysis {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
/// Of the device clock: no such time can be added to another.
constexpr std::uint64_t kMaxNs = std::uint64_t{1} << 61;

std::uint64_t distance_ns(std::int64_t from, std::int64_t to) {
    return to > from ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) : 0;
}

}  // namespace

DevicePass::DevicePass(Model& model, TimelineBuilder& timeline, EventBatches& batches)
    : model_(model),
      timeline_(timeline),
      batches_(batches),
      matcher_(model, timeline),
      device_clock_(model.index.device_clock),
      clock_is_known_(!model.index.device_clock.empty()) {
    const TraceIndex& index = model.index;
    model_.first_ns = index.host_clock.at(index.first_ticks);
    model_.last_ns = index.host_clock.at(index.last_ticks);
    // A record cannot begin before the recording nor end after the block that holds it was written. The slack is
    // for two clocks that are related by readings, or by a single one.
    const std::int64_t last = std::max(model_.last_ns, index.host_clock.at(index.last_block_ticks));
    const std::int64_t slack = kSecondNs + static_cast<std::int64_t>(distance_ns(model_.first_ns, last) / 100);
    earliest_ns_ = model_.first_ns - slack;
    latest_ns_ = last + slack;
}

void DevicePass::on_block(const BlockInfo& block) {
    batch_ = batches_.take();
    if (block.index == 0 || segments_ == 0) {
        // A settlement looks at all that is left of the last one: no more often than as much again has come.
        if (segments_ < model_.index.horizons.size() && added_ >= left_) {
            settle(model_.index.horizons[segments_], batch_.open_since_ticks);
        }
        ++segments_;
    }
    take_batch();
}

void DevicePass::take_batch() {
    added_ += batch_.waits.size();
    for (const EventBatch::Wait& wait : batch_.waits) {
        model_.waiting.add_wait(wait.thread, wait.api, wait.begin_ns, wait.end_ns);
    }
    for (const Launch& launch : batch_.launches) {
        matcher_.add_launch(launch);
    }
}

void DevicePass::settle(const Horizon& horizon, std::uint64_t open_since_ticks) {
    const std::uint64_t device_ns = std::min(horizon.device_ns, kMaxNs);
    added_ = 0;
    left_ = model_.devices.size();
    for (auto& [ordinal, device] : model_.devices) {
        device.busy.settle(static_cast<std::int64_t>(device_ns));
        left_ += device.busy.open();
    }
    std::int64_t moment_ns = model_.index.host_clock.at(std::min(horizon.call_ticks, open_since_ticks));
    if (clock_is_known_) {
        moment_ns = std::min(moment_ns, model_.index.device_clock.at(device_ns));
    }
    left_ += model_.waiting.settle(moment_ns);
}

void DevicePass::on_activity(const ActivityRecord& record) {
    ++added_;
    DeviceStats& device = device_of(record);
    HostTimes host;
    const bool timed = has_usable_time(record, host);
    const std::uint32_t activity = timeline_.add_activity(record, timed);
    if (timed) {
        const auto start = static_cast<std::int64_t>(record.start_ns);
        device.busy.add(start, start + static_cast<std::int64_t>(record.duration_ns));
        if (clock_is_known_) {
            model_.waiting.add_busy(host.begin_ns, host.end_ns);
            model_.last_ns = std::max(model_.last_ns, host.end_ns);
            model_.first_ns = std::min(model_.first_ns, host.begin_ns);
        }
    } else {
        ++device.untimed;
    }
    const std::uint64_t duration_ns = timed ? record.duration_ns : 0;
    switch (record.kind) {
        case ActivityKind::kKernel:
            ++device.kernels;
            device.kernel_ns += duration_ns;
            matcher_.add_record(record, timed, activity);
            return;
        case ActivityKind::kMemcpy:
            ++device.copies;
            device.copy_ns += duration_ns;
            break;
        case ActivityKind::kMemset:
            ++device.sets;
            device.set_ns += duration_ns;
            break;
    }
    CopyStats& copy = model_.copies[record.copy_kind];
    ++copy.count;
    copy.bytes += record.bytes;
    if (timed) {
        copy.timed_bytes += record.bytes;
        copy.duration_ns.add(record.duration_ns);
    }
}

DeviceStats& DevicePass::device_of(const ActivityRecord& record) {
    if (device_ == nullptr || record.device != device_ordinal_) {
        device_ordinal_ = record.device;
        device_ = &model_.devices[record.device];
    }
    return *device_;
}

bool DevicePass::has_usable_time(const ActivityRecord& record, HostTimes& host) {
    if (record.has(abi::kDeviceUntimed) || record.start_ns == 0 || record.duration_ns == 0 ||
        record.start_ns > kMaxNs || record.duration_ns > distance_ns(earliest_ns_, latest_ns_)) {
        return false;
    }
    if (!clock_is_known_) {
        return true;
    }
    host = {device_clock_.at(record.start_ns), device_clock_.at(record.start_ns + record.duration_ns)};
    return host.begin_ns >= earliest_ns_ && host.end_ns <= latest_ns_;
}

void DevicePass::finish() {
    batch_ = batches_.take();
    take_batch();
    matcher_.finish();
    model_.waiting.finish();
}

}  // namespace gpuspy::analysis

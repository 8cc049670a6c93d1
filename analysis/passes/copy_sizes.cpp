#include "analysis/passes/copy_sizes.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "analysis/flops/peaks.hpp"
#include "analysis/passes/copies.hpp"
#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

/// Direction, source, destination, size class: the exponent of its least size to the base 4; -1: all sizes, or 0 bytes.
using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, int>;

int size_class(std::uint64_t bytes) {
    return (static_cast<int>(std::bit_width(bytes)) + 1) / 2 - 1;
}

/// At its clock. nullopt: not recorded.
std::optional<double> memory_gb_per_s(const Model& model, std::uint64_t ordinal) {
    const auto device = model.index.devices.find(ordinal);
    const auto bytes_per_s =
        device == model.index.devices.end() ? std::nullopt : peaks_of(device->second).bytes.derived;
    return bytes_per_s ? std::optional(*bytes_per_s / 1e9) : std::nullopt;
}

std::vector<CopyUse> copy_uses(const Model& model, const Timeline& timeline, bool by_size) {
    struct Group {
        Samples durations;
        std::uint64_t count = 0, bytes = 0, timed_bytes = 0;
        std::uint64_t device = 0;
        bool one_device = true;
    };
    std::map<Key, Group> groups;
    for (const DeviceActivity& activity : timeline.activities) {
        const ActivityRecord& record = activity.record;
        if (record.kind == ActivityKind::kKernel) {
            continue;
        }
        Group& group = groups[{record.copy_kind, record.source_memory, record.destination_memory,
                               by_size ? size_class(record.bytes) : -1}];
        group.one_device = group.count == 0 || (group.one_device && group.device == record.device);
        group.device = record.device;
        ++group.count;
        group.bytes += record.bytes;
        if (activity.timed) {
            group.timed_bytes += record.bytes;
            group.durations.add(record.duration_ns);
        }
    }
    std::vector<CopyUse> rows;
    for (const auto& [key, group] : groups) {
        const auto& [direction, source, destination, size] = key;
        CopyUse& row = rows.emplace_back();
        row.direction = direction_name(direction);
        row.source = memory_kind_name(source);
        row.destination = memory_kind_name(destination);
        if (by_size) {
            row.least_bytes = size < 0 ? 0 : std::uint64_t{1} << (2 * size);
            row.below_bytes = size < 0 ? 1 : size == 31 ? UINT64_MAX : row.least_bytes * 4;
        }
        row.count = group.count;
        row.bytes = group.bytes;
        row.duration = duration_stats(group.durations);
        row.gb_per_s = ratio(group.timed_bytes, row.duration.time_ns);  // bytes / ns
        const bool copies_inside = direction == static_cast<std::uint64_t>(abi::CopyKind::kDeviceToDevice);
        const bool sets = direction == static_cast<std::uint64_t>(abi::CopyKind::kSet);
        const auto memory = memory_gb_per_s(model, group.device);
        if (memory && group.one_device && (copies_inside || sets)) {
            row.peak_gb_per_s = *memory / (copies_inside ? 2 : 1);
        }
    }
    return rows;
}

}  // namespace

std::vector<CopyUse> copies_by_memory(const Model& model, const Timeline& timeline) {
    std::vector<CopyUse> rows = copy_uses(model, timeline, false);
    std::stable_sort(rows.begin(), rows.end(), [](const CopyUse& a, const CopyUse& b) {
        return std::tie(b.bytes, b.count) < std::tie(a.bytes, a.count);
    });
    return rows;
}

std::vector<CopyUse> copies_by_size(const Model& model, const Timeline& timeline) {
    return copy_uses(model, timeline, true);
}

}  // namespace gpuspy::analysis

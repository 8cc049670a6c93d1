#include "analysis/passes/kernel_occupancy.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

#include "analysis/passes/activity_edges.hpp"
#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

class Tally {
public:
    /// `limits`, `sm_count`: of the device, where they are known.
    void add(const ActivityRecord& kernel, std::uint64_t time_ns, const SmLimits* limits,
             const std::optional<std::uint64_t>& sm_count) {
        time_.kernel_ns += time_ns;
        const auto occupancy = limits == nullptr ? std::nullopt : occupancy_of(*limits, kernel);
        const auto blocks = blocks_of(kernel);
        if (!occupancy || !blocks || !sm_count) {
            time_.not_known_ns += time_ns;
            return;
        }
        const auto weight = static_cast<double>(time_ns);
        const double waves = waves_of(*blocks, *sm_count, *occupancy);
        (waves >= 1 ? time_.fills_ns : *blocks >= *sm_count ? time_.under_wave_ns : time_.fewer_blocks_ns) += time_ns;
        occupancy_ns_ += occupancy->share * weight;
        waves_ns_ += waves * weight;
        least_ = std::min(least_, occupancy->blocks_per_sm);
        most_ = std::max(most_, occupancy->blocks_per_sm);
        limit_ns_[static_cast<std::size_t>(occupancy->limit)] += time_ns;
    }

    [[nodiscard]] FillingTime time() const {
        FillingTime time = time_;
        if (const std::uint64_t known_ns = time.kernel_ns - time.not_known_ns; known_ns != 0) {
            time.occupancy = occupancy_ns_ / static_cast<double>(known_ns);
            time.waves = waves_ns_ / static_cast<double>(known_ns);
            time.share_fills = ratio(time.fills_ns, known_ns);
        }
        return time;
    }
    void write(KernelOccupancy& kernel) const {
        kernel.time = time();
        if (most_ == 0) return;
        kernel.least_blocks_per_sm = least_;
        kernel.most_blocks_per_sm = most_;
        const auto longest = std::max_element(limit_ns_.begin(), limit_ns_.end());
        kernel.limit = static_cast<OccupancyLimit>(longest - limit_ns_.begin());
    }

private:
    FillingTime time_;
    double occupancy_ns_ = 0, waves_ns_ = 0;
    std::uint64_t least_ = std::numeric_limits<std::uint64_t>::max(), most_ = 0;
    std::array<std::uint64_t, 4> limit_ns_{};  // by OccupancyLimit
};

struct KernelTally {
    std::uint64_t launches = 0;
    Tally tally;
};

}  // namespace

std::vector<DeviceOccupancy> kernel_occupancy(const Model& model, const Timeline& timeline) {
    std::vector<DeviceOccupancy> devices;
    const Interval range = range_of(timeline);
    for (const auto& [ordinal, activities] : activities_by_device(timeline)) {
        DeviceOccupancy device;
        device.ordinal = ordinal;
        const SmLimits* limits = nullptr;
        if (const auto found = model.index.devices.find(ordinal); found != model.index.devices.end()) {
            const DeviceRecord& record = found->second;
            if (record.sm_count != 0) device.sm_count = record.sm_count;
            if (record.cc_major != 0) {
                device.capability = std::to_string(record.cc_major) + "." + std::to_string(record.cc_minor);
            }
            limits = sm_limits_of(record);
        }
        device.limits_known = limits != nullptr;
        Tally all;
        std::map<std::uint32_t, KernelTally> kernels;  // by name
        for (const DeviceActivity& activity : activities) {
            const Interval part = cut_to(activity, range);
            if (activity.record.kind != ActivityKind::kKernel || part.begin_ns >= part.end_ns) continue;
            const std::uint64_t time_ns =
                static_cast<std::uint64_t>(part.end_ns) - static_cast<std::uint64_t>(part.begin_ns);
            KernelTally& kernel = kernels[activity.record.name];
            ++kernel.launches;
            kernel.tally.add(activity.record, time_ns, limits, device.sm_count);
            all.add(activity.record, time_ns, limits, device.sm_count);
        }
        if (kernels.empty()) continue;
        device.time = all.time();
        for (const auto& [name, kernel] : kernels) {
            KernelOccupancy& row = device.kernels.emplace_back();
            row.mangled = model.kernel_name(name);
            row.launches = kernel.launches;
            kernel.tally.write(row);
        }
        std::sort(device.kernels.begin(), device.kernels.end(), [](const KernelOccupancy& a, const KernelOccupancy& b) {
            return std::tie(b.time.kernel_ns, a.mangled) < std::tie(a.time.kernel_ns, b.mangled);
        });
        devices.push_back(std::move(device));
    }
    return devices;
}

}  // namespace gpuspy::analysis

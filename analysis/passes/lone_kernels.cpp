#include "analysis/passes/lone_kernels.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "analysis/passes/activity_edges.hpp"
#include "analysis/passes/occupancy.hpp"
#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

struct Tally {
    LoneTime time;
    double idle_sm_ns = 0;  // SM share x time

    void add(std::uint64_t passed_ns, std::optional<std::uint64_t> blocks, std::optional<std::uint64_t> sms) {
        time.alone_ns += passed_ns;
        if (!blocks || !sms) {
            time.not_known_ns += passed_ns;
        } else if (*blocks < *sms) {
            time.fewer_blocks_ns += passed_ns;
            idle_sm_ns += static_cast<double>(passed_ns) * (1 - ratio(*blocks, *sms));
        } else {
            time.enough_blocks_ns += passed_ns;
        }
    }

    /// `waves`: where they are known.
    void add_filling(std::uint64_t passed_ns, const std::optional<double>& waves) {
        if (waves) {
            (*waves >= 1 ? time.fills_ns : time.room_ns) += passed_ns;
        }
    }

    [[nodiscard]] std::optional<double> idle_sms() const {
        const std::uint64_t known_ns = time.alone_ns - time.not_known_ns;
        return known_ns == 0 ? std::nullopt : std::optional(idle_sm_ns / static_cast<double>(known_ns));
    }
};

struct KernelTally {
    Tally tally;
    std::uint64_t least_blocks = std::numeric_limits<std::uint64_t>::max(), most_blocks = 0;
};

}  // namespace

std::vector<LoneKernels> lone_kernels(const Model& model, const Timeline& timeline) {
    std::vector<LoneKernels> devices;
    const Interval range = range_of(timeline);
    for (const auto& [ordinal, activities] : activities_by_device(timeline)) {
        LoneKernels& device = devices.emplace_back();
        device.ordinal = ordinal;
        const auto described = model.index.devices.find(ordinal);
        if (described != model.index.devices.end() && described->second.sm_count != 0) {
            device.sm_count = described->second.sm_count;
        }
        const SmLimits* const limits =
            described == model.index.devices.end() ? nullptr : sm_limits_of(described->second);
        // Of fewer blocks than SMs it is known whatever a block needs.
        const auto waves = [&](const ActivityRecord& kernel, std::uint64_t blocks) -> std::optional<double> {
            if (blocks < *device.sm_count) return ratio(blocks, *device.sm_count);
            const auto occupancy = limits == nullptr ? std::nullopt : occupancy_of(*limits, kernel);
            return occupancy ? std::optional(waves_of(blocks, *device.sm_count, *occupancy)) : std::nullopt;
        };
        Tally all;
        std::map<std::uint32_t, KernelTally> kernels;  // by name
        std::uint64_t in_flight = 0;
        std::uint32_t together = 0;  // XOR of the positions in flight: of one alone it is the position
        std::int64_t now_ns = 0;
        for (const Edge& edge : activity_edges(activities, range)) {
            if (in_flight == 1 && activities[together].record.kind == ActivityKind::kKernel) {
                const ActivityRecord& record = activities[together].record;
                const auto passed_ns = static_cast<std::uint64_t>(edge.at_ns - now_ns);
                const auto blocks = blocks_of(record);
                all.add(passed_ns, blocks, device.sm_count);
                if (blocks && device.sm_count) all.add_filling(passed_ns, waves(record, *blocks));
                if (blocks && device.sm_count && *blocks < *device.sm_count && passed_ns != 0) {
                    KernelTally& kernel = kernels[record.name];
                    kernel.tally.add(passed_ns, blocks, device.sm_count);
                    kernel.least_blocks = std::min(kernel.least_blocks, *blocks);
                    kernel.most_blocks = std::max(kernel.most_blocks, *blocks);
                }
            }
            now_ns = edge.at_ns;
            together ^= edge.activity;
            edge.begins ? ++in_flight : --in_flight;
        }
        device.time = all.time;
        device.time.idle_sms = all.idle_sms();
        if (const std::uint64_t told_ns = all.time.fills_ns + all.time.room_ns; told_ns != 0) {
            device.time.share_fills = ratio(all.time.fills_ns, told_ns);
        }
        if (device.time.idle_sms) {
            device.time.share_fewer_blocks =
                ratio(all.time.fewer_blocks_ns, all.time.fewer_blocks_ns + all.time.enough_blocks_ns);
        }
        for (const auto& [name, kernel] : kernels) {
            device.small_grids.push_back({model.kernel_name(name), kernel.least_blocks, kernel.most_blocks,
                                          kernel.tally.time.fewer_blocks_ns, *kernel.tally.idle_sms()});
        }
        std::sort(device.small_grids.begin(), device.small_grids.end(), [](const LoneKernel& a, const LoneKernel& b) {
            return std::tie(b.fewer_blocks_ns, a.mangled) < std::tie(a.fewer_blocks_ns, b.mangled);
        });
    }
    return devices;
}

}  // namespace gpuspy::analysis

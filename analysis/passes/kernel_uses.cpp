#include "analysis/passes/kernel_uses.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {

std::vector<KernelUse> kernel_uses(const Model& model, const Timeline& timeline, bool by_config) {
    struct Group {
        Samples durations;
        std::uint64_t count = 0;
        std::set<LaunchConfig> configs;
    };
    std::map<std::tuple<std::uint32_t, std::uint32_t, LaunchConfig>, Group> groups;
    for (const DeviceActivity& activity : timeline.activities) {
        const ActivityRecord& record = activity.record;
        if (record.kind != ActivityKind::kKernel) {
            continue;
        }
        const LaunchConfig config{record.grid, record.block, record.registers,
                                  record.static_shared_bytes + record.dynamic_shared_bytes};
        Group& group = groups[{record.name, activity.owner, by_config ? config : LaunchConfig{}}];
        ++group.count;
        group.configs.insert(config);
        if (activity.timed) {
            group.durations.add(record.duration_ns);
        }
    }
    std::vector<KernelUse> rows;
    std::uint64_t total_ns = 0;
    for (const auto& [key, group] : groups) {
        const auto& [name, owner, config] = key;
        KernelUse& row = rows.emplace_back();
        row.mangled = model.kernel_name(name);
        row.library = model.owners.at(owner).library;
        row.owner = model.owners.at(owner).name;
        row.config = config;
        row.configs = group.configs.size();
        row.count = group.count;
        row.duration = duration_stats(group.durations);
        row.share_of_wall = ratio(row.duration.time_ns, timeline.wall_ns());
        total_ns += row.duration.time_ns;
    }
    for (KernelUse& row : rows) {
        row.share_of_kernels = ratio(row.duration.time_ns, total_ns);
    }
    std::sort(rows.begin(), rows.end(), [](const KernelUse& a, const KernelUse& b) {
        return std::tie(b.duration.time_ns, b.count, a.mangled, a.owner, a.config) <
               std::tie(a.duration.time_ns, a.count, b.mangled, b.owner, b.config);
    });
    return rows;
}

}  // namespace gpuspy::analysis

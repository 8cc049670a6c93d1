#include "analysis/passes/kernels.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {

std::vector<KernelRow> kernel_table(const Model& model) {
    std::vector<KernelRow> rows;
    std::uint64_t total_ns = 0;
    for (const auto& [key, stats] : model.kernels) {
        const auto& [name, owner_number] = key;
        const Owner& owner = model.owners.at(owner_number);
        KernelRow& row = rows.emplace_back();
        row.mangled = model.kernel_name(name);
        row.library = owner.library;
        row.owner = owner.name;
        row.count = stats.records + stats.untimed_launches;
        row.owner_by_graph_launch = stats.owner_fallback;
        row.duration = duration_stats(stats.duration_ns);
        row.share_of_wall = ratio(row.duration.time_ns, model.wall_ns());
        total_ns += row.duration.time_ns;
    }
    for (KernelRow& row : rows) {
        row.share_of_kernels = ratio(row.duration.time_ns, total_ns);
    }
    std::sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
        return std::tie(b.duration.time_ns, b.count, a.mangled, a.owner) <
               std::tie(a.duration.time_ns, a.count, b.mangled, b.owner);
    });
    return rows;
}

}  // namespace gpuspy::analysis

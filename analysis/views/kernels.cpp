#include <fmt/format.h>

#include "analysis/passes/kernel_uses.hpp"
#include "analysis/render/kernel_name.hpp"
#include "analysis/views/duration_columns.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

std::string size_text(const std::array<std::uint32_t, 3>& size) {
    return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

}  // namespace

std::vector<Table> kernels_view(const ViewInput& input) {
    const std::vector<KernelUse> rows = kernel_uses(input.model, input.timeline, input.options.by_config);
    std::vector<ColumnOf<KernelUse>> front = {
        {"share_of_kernels", "% kernels", Unit::kShare, [](const KernelUse& row) { return row.share_of_kernels; }},
        {"share_of_wall", "% wall", Unit::kShare, [](const KernelUse& row) { return row.share_of_wall; }},
        {"count", "count", Unit::kCount, [](const KernelUse& row) { return row.count; }},
    };
    std::vector<ColumnOf<KernelUse>> behind;
    if (input.options.by_config) {
        behind = {
            {"grid", "grid", Unit::kText, [](const KernelUse& row) { return size_text(row.config.grid); }},
            {"block", "block", Unit::kText, [](const KernelUse& row) { return size_text(row.config.block); }},
            {"registers", "regs", Unit::kCount,
             [](const KernelUse& row) { return std::uint64_t{row.config.registers}; }},
            {"shared_bytes", "shared", Unit::kBytes,
             [](const KernelUse& row) { return std::uint64_t{row.config.shared_bytes}; }},
        };
    } else {
        behind = {{"configs", "configs", Unit::kCount, [](const KernelUse& row) { return row.configs; }}};
    }
    behind.push_back({"owner", "owner", Unit::kText, [](const KernelUse& row) { return row.owner; }});
    behind.push_back({"name", "kernel", Unit::kName,
                      [&](const KernelUse& row) { return kernel_name(row.mangled, input.options.names); }});
    return {make_table(
        "kernels", "Kernels",
        "% kernels is of the time of all rows; configs: different grids, blocks, registers and shared memory",
        with_durations(front, behind), rows)};
}

}  // namespace gpuspy::analysis

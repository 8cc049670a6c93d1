#include "analysis/passes/copies.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {

std::string direction_name(std::uint64_t kind) {
    static constexpr std::array kNames = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                          "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
    if (kind == static_cast<std::uint64_t>(abi::CopyKind::kSet)) {
        return "memset";
    }
    return kind < kNames.size() ? kNames[static_cast<std::size_t>(kind)] : "kind " + std::to_string(kind);
}

std::string memory_kind_name(std::uint32_t kind) {
    static constexpr std::array kNames = {"unknown", "pageable", "pinned",        "device",
                                          "array",   "managed",  "device static", "managed static"};
    return kind < kNames.size() ? kNames[kind] : "kind " + std::to_string(kind);
}

std::vector<CopyRow> copy_table(const Model& model) {
    std::vector<CopyRow> rows;
    for (const auto& [kind, stats] : model.copies) {
        CopyRow& row = rows.emplace_back();
        row.direction = direction_name(kind);
        row.count = stats.count;
        row.bytes = stats.bytes;
        row.duration = duration_stats(stats.duration_ns);
        row.gb_per_s = ratio(stats.timed_bytes, row.duration.time_ns);  // bytes / ns
    }
    std::stable_sort(rows.begin(), rows.end(), [](const CopyRow& a, const CopyRow& b) {
        return std::tie(b.bytes, b.count) < std::tie(a.bytes, a.count);
    });
    return rows;
}

}  // namespace gpuspy::analysis

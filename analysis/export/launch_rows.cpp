#include "analysis/export/launch_rows.hpp"

namespace gpuspy::analysis {

std::vector<std::uint32_t> api_rows(const Model& model, const Timeline& timeline) {
    std::vector<std::uint32_t> rows(timeline.calls.size(), kNone);
    for (std::uint32_t position = 0; position < rows.size(); ++position) {
        const HostCall& call = timeline.calls[position];
        if (model.index.symbols.api(call.api).level == abi::ApiLevel::kLibrary) {
            continue;
        }
        // A call stands before those inside it, so its row is known.
        const std::uint32_t around = call.parent == kNone ? kNone : rows[call.parent];
        rows[position] = around == kNone ? position : around;
    }
    return rows;
}

std::string_view public_name(std::string_view name) {
    if (name.starts_with("__")) {
        name.remove_prefix(2);
    }
    for (const std::string_view per_thread : {"_ptsz", "_ptds"}) {
        if (name.ends_with(per_thread)) {
            name.remove_suffix(per_thread.size());
        }
    }
    return name;
}

}  // namespace gpuspy::analysis

#include "analysis/salvage/salvage_first.hpp"

#include "collector/sink/salvage.hpp"

namespace gpuspy::analysis {

std::string salvage_first(const std::string& trace_path, OlderRings older) {
    sink::salvage_for_trace(trace_path.c_str(), sink::kRingDirectory);
    // And whatever other dead processes left: nobody else may come.
    sink::SalvageFilter any;
    any.removes_older = older == OlderRings::kRemove;
    std::uint64_t removed_bytes = 0;
    const auto count = [](void* self, const sink::SalvageResult& result) {
        *static_cast<std::uint64_t*>(self) += result.removed_bytes;
    };
    sink::salvage_directory(sink::kRingDirectory, any, count, &removed_bytes);
    return removed_bytes == 0 ? "" : std::to_string(removed_bytes) + " " + sink::kRemovedUnreadText;
}

}  // namespace gpuspy::analysis

#include "analysis/salvage/salvage_first.hpp"

#include "collector/sink/salvage.hpp"

namespace gpuspy::analysis {

void salvage_first(const std::string& trace_path) {
    sink::salvage_for_trace(trace_path.c_str(), sink::kRingDirectory);
    // And whatever other dead processes left: nobody else may come.
    sink::salvage_directory(
        sink::kRingDirectory, {}, [](void*, const sink::SalvageResult&) {}, nullptr);
}

}  // namespace gpuspy::analysis

#include "analysis/passes/calls.hpp"

#include <algorithm>
#include <tuple>

namespace gpuspy::analysis {

std::vector<CallRow> call_table(const Model& model) {
    std::vector<CallRow> rows;
    for (std::size_t api = 0; api < model.apis.size(); ++api) {
        const ApiStats& stats = model.apis[api];
        if (stats.duration_ns.count() == 0) {
            continue;
        }
        const ApiInfo& info = model.index.symbols.apis()[api];
        rows.push_back({info.name, info.library, stats.duration_ns.count(), stats.failed, stats.outermost,
                        duration_stats(stats.duration_ns)});
    }
    std::sort(rows.begin(), rows.end(), [](const CallRow& a, const CallRow& b) {
        return std::tie(b.duration.time_ns, b.count, a.name, a.library) <
               std::tie(a.duration.time_ns, a.count, b.name, b.library);
    });
    return rows;
}

}  // namespace gpuspy::analysis

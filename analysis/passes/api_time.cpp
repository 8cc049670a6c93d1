#include "analysis/passes/api_time.hpp"

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {

ApiTime api_time(const Model& model) {
    ApiTime result;
    for (const ThreadStats& thread : model.threads) {
        result.time_ns += thread.api_ns;
        result.calls += thread.calls;
        result.threads += thread.calls != 0 ? 1 : 0;
    }
    result.share_of_wall = ratio(result.time_ns, model.wall_ns());
    return result;
}

}  // namespace gpuspy::analysis

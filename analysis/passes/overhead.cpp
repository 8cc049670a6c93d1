#include "analysis/passes/overhead.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {

Overhead overhead(const Model& model) {
    Overhead result;
    const TraceIndex& index = model.index;
    result.known = index.cost.has_value() || index.last_cpu.has_value();
    if (index.cost) {
        result.calls = index.cost->calls;
        if (index.kept) {
            result.calls -= std::min(result.calls, index.kept->calls);
        }
        result.call_ns = static_cast<double>(index.cost->call_ps) / 1000;
        // A trace is not trusted: what does not fit any wall clock is cut off.
        const double total = std::min(static_cast<double>(result.calls) * result.call_ns, 1e18);
        result.calls_ns = static_cast<std::uint64_t>(std::llround(total));
    }
    if (index.last_cpu) {
        result.drain_ns = index.last_cpu->own_ns;
        result.callback_ns = index.last_cpu->callback_ns;
        if (index.kept) {  // Totals since the recording began, of which the file holds the last part.
            result.drain_ns -= std::min(result.drain_ns, index.first_cpu->own_ns);
            result.callback_ns -= std::min(result.callback_ns, index.first_cpu->callback_ns);
        }
    }
    result.total_ns = result.calls_ns + result.drain_ns + result.callback_ns;
    result.share_of_wall = ratio(result.total_ns, model.wall_ns());
    return result;
}

}  // namespace gpuspy::analysis

#include "analysis/passes/cpu_time.hpp"

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

std::uint64_t since(std::uint64_t first, std::uint64_t last) {
    return last > first ? last - first : 0;
}

}  // namespace

CpuTime cpu_time(const Model& model) {
    CpuTime result;
    if (!model.index.last_cpu) {
        return result;
    }
    const CpuRecord& last = *model.index.last_cpu;
    CpuRecord first = *model.index.first_cpu;
    if (first.ticks == last.ticks) {
        first = {};
        result.since_process_start = true;
    }
    result.known = true;
    result.user_ns = since(first.user_ns, last.user_ns);
    result.system_ns = since(first.system_ns, last.system_ns);
    result.own_ns = since(first.own_ns, last.own_ns);
    result.share_of_wall = ratio(result.user_ns + result.system_ns, model.wall_ns());
    return result;
}

}  // namespace gpuspy::analysis

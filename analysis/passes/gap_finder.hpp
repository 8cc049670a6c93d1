// What a gap of a device was due to.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/passes/host_states.hpp"
#include "analysis/passes/idle.hpp"

namespace gpuspy::analysis {

class GapFinder {
public:
    /// Both must outlive it.
    GapFinder(const Model& model, const Timeline& timeline);

    /// How long the device has been busy between a moment and the gap's begin.
    using BusySince = std::function<std::uint64_t(std::int64_t moment_ns)>;

    /// The gap between two activities (Timeline::activities); kNone: before the first, behind the last.
    [[nodiscard]] Gap gap(std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t before, std::uint32_t after,
                          const BusySince& busy_since) const;

private:
    [[nodiscard]] std::vector<Interval> off_inside(std::int64_t begin_ns, std::int64_t end_ns) const;
    [[nodiscard]] const HostCall* launch_of(std::uint32_t position) const;
    [[nodiscard]] const HostCall* wait_at(std::uint32_t thread, std::int64_t moment_ns, std::uint32_t ended) const;

    const Model& model_;
    const Timeline& timeline_;
    const Timeline& whole_;  // the recording that timeline_ is, or is a part of
    HostStates host_;
    IntervalSet not_recorded_;
};

}  // namespace gpuspy::analysis

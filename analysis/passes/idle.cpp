#include "analysis/passes/idle.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "analysis/passes/activity_edges.hpp"
#include "analysis/passes/gap_finder.hpp"
#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

/// When the device was busy, as far as it has been looked at, and how much that is.
class BusySoFar {
public:
    /// Stretches come in order and do not overlap.
    void add(std::int64_t begin_ns, std::int64_t end_ns) {
        stretches_.push_back({{begin_ns, end_ns}, total_ns_});
        total_ns_ += static_cast<std::uint64_t>(end_ns - begin_ns);
    }

    [[nodiscard]] std::uint64_t total_ns() const { return total_ns_; }

    [[nodiscard]] std::uint64_t since(std::int64_t moment_ns) const {
        const auto next =
            std::upper_bound(stretches_.begin(), stretches_.end(), moment_ns,
                             [](std::int64_t moment, const Stretch& stretch) { return moment < stretch.at.end_ns; });
        if (next == stretches_.end()) {
            return 0;
        }
        const std::int64_t into_ns = std::max<std::int64_t>(0, moment_ns - next->at.begin_ns);
        return total_ns_ - next->before_ns - static_cast<std::uint64_t>(into_ns);
    }

private:
    struct Stretch {
        Interval at;
        std::uint64_t before_ns;  // the length of those before it
    };
    std::vector<Stretch> stretches_;
    std::uint64_t total_ns_ = 0;
};

/// Activities with a usable time that run in the range.
std::uint64_t running_in(const Interval& range, std::span<const DeviceActivity> activities) {
    return static_cast<std::uint64_t>(std::count_if(activities.begin(), activities.end(), [&](const auto& activity) {
        return activity.timed && activity.end_ns > range.begin_ns && activity.begin_ns < range.end_ns;
    }));
}

void add_up(DeviceIdle& device, const Model& model) {
    std::map<IdleCause, CauseTotal> causes;
    std::map<std::pair<IdleCause, std::uint32_t>, CauseTotal> calls;
    for (const Gap& gap : device.gaps) {
        device.idle_ns += gap.length_ns();
        std::array<std::pair<std::uint64_t, std::uint64_t>, kIdleCauses> of_cause{};  // time, after the wait
        const auto count = [](CauseTotal& total, std::uint64_t time_ns, std::uint64_t after_wait_ns) {
            ++total.gaps;
            total.time_ns += time_ns;
            total.after_wait_ns += after_wait_ns;
            total.longest_ns = std::max(total.longest_ns, time_ns);
        };
        for (const GapPart& part : gap.parts) {
            auto& [time_ns, after_wait_ns] = of_cause[static_cast<std::size_t>(part.cause)];
            time_ns += part.time_ns;
            after_wait_ns += part.after_wait_ns;
            if (part.api != kNone) {
                count(calls[{part.cause, part.api}], part.time_ns, part.after_wait_ns);
            }
        }
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
            if (of_cause[cause].first != 0) {
                count(causes[static_cast<IdleCause>(cause)], of_cause[cause].first, of_cause[cause].second);
            }
        }
    }
    const auto take = [&](std::vector<CauseTotal>& into, CauseTotal& total, IdleCause cause) {
        total.cause = cause;
        total.share_of_wall = ratio(total.time_ns, device.wall_ns);
        total.share_of_idle = ratio(total.time_ns, device.idle_ns);
        into.push_back(std::move(total));
    };
    for (auto& [cause, total] : causes) {
        take(device.causes, total, cause);
    }
    for (auto& [key, total] : calls) {
        total.call = model.index.symbols.api(key.second).name;
        take(device.calls, total, key.first);
    }
    const auto longest_first = [](const CauseTotal& a, const CauseTotal& b) { return a.time_ns > b.time_ns; };
    std::stable_sort(device.causes.begin(), device.causes.end(), longest_first);
    std::stable_sort(device.calls.begin(), device.calls.end(), longest_first);
    std::stable_sort(device.gaps.begin(), device.gaps.end(),
                     [](const Gap& a, const Gap& b) { return a.length_ns() > b.length_ns(); });
}

}  // namespace

const char* idle_cause_text(IdleCause cause) {
    switch (cause) {
        case IdleCause::kStart:
            return "before the first activity";
        case IdleCause::kEnd:
            return "after the last activity";
        case IdleCause::kSync:
            return "host in a synchronising call";
        case IdleCause::kLaunch:
            return "host in a launch call";
        case IdleCause::kCopy:
            return "host in a copy call";
        case IdleCause::kOtherCall:
            return "host in another call";
        case IdleCause::kOutside:
            return "host outside CUDA";
        case IdleCause::kLatency:
            return "launched, device latency";
        case IdleCause::kQueued:
            return "launched, waiting";
        case IdleCause::kNotRecorded:
            return "not recorded";
        case IdleCause::kNotKnown:
            break;
    }
    return "launch not known";
}

Idle idle(const Model& model, const Timeline& timeline) {
    Idle result;
    result.known = timeline.device_clock_known;
    if (!result.known) {
        return result;
    }
    GapFinder finder(model, timeline);
    const Interval range = range_of(timeline);
    const auto all = activities_by_device(model.timeline == nullptr ? timeline : *model.timeline);
    for (const auto& [ordinal, activities] : activities_by_device(timeline)) {
        DeviceIdle device;
        device.ordinal = ordinal;
        if (const auto named = model.index.devices.find(ordinal); named != model.index.devices.end()) {
            device.name = named->second.name;
        }
        device.wall_ns = timeline.wall_ns();
        device.left_out = running_in(range, all.at(ordinal)) - running_in(range, activities);
        const auto first = static_cast<std::uint32_t>(activities.data() - timeline.activities.data());
        BusySoFar busy;
        IntervalSet kernels;
        Interval stretch{range.begin_ns, range.begin_ns};  // without a gap, up to here
        std::uint32_t last = kNone;                        // what ends last so far
        const auto end_stretch = [&](std::int64_t gap_end_ns, std::uint32_t next) {
            busy.add(stretch.begin_ns, stretch.end_ns);
            if (stretch.end_ns < gap_end_ns) {
                device.gaps.push_back(finder.gap(stretch.end_ns, gap_end_ns, last, next,
                                                 [&](std::int64_t moment_ns) { return busy.since(moment_ns); }));
            }
            stretch = {gap_end_ns, gap_end_ns};
        };
        for (std::uint32_t offset = 0; offset < activities.size(); ++offset) {
            const DeviceActivity& activity = activities[offset];
            device.untimed += activity.timed ? 0 : 1;
            const Interval part = cut_to(activity, range);
            if (part.begin_ns >= part.end_ns) {
                continue;
            }
            if (activity.record.kind == ActivityKind::kKernel) {
                ++device.kernels;
                kernels.add(part.begin_ns, part.end_ns);
            }
            if (part.begin_ns > stretch.end_ns) {
                end_stretch(part.begin_ns, first + offset);
            }
            if (last == kNone || part.end_ns > stretch.end_ns) {
                stretch.end_ns = part.end_ns;
                last = first + offset;
            }
        }
        if (last == kNone) {
            continue;
        }
        end_stretch(range.end_ns, kNone);
        device.busy_ns = busy.total_ns();
        device.kernel_busy_ns = kernels.length_ns();
        add_up(device, model);
        result.devices.push_back(std::move(device));
    }
    return result;
}

}  // namespace gpuspy::analysis

#include "analysis/passes/nvtx_ranges.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpuspy::analysis {
namespace {

/// What happened on the device because of one range.
struct Projection {
    std::uint64_t launches = 0, kernels = 0, gpu_ns = 0;
    std::int64_t begin_ns = 0, end_ns = 0;
    bool any = false;

    void add(const DeviceActivity& activity) {
        kernels += activity.record.kind == ActivityKind::kKernel ? 1 : 0;
        if (!activity.timed) {
            return;
        }
        gpu_ns += activity.record.duration_ns;
        begin_ns = any ? std::min(begin_ns, activity.begin_ns) : activity.begin_ns;
        end_ns = any ? std::max(end_ns, activity.end_ns) : activity.end_ns;
        any = true;
    }
};

/// Positions in Timeline::activities, by the call that launched them.
std::vector<std::vector<std::uint32_t>> activities_of_calls(const Timeline& timeline) {
    std::vector<std::vector<std::uint32_t>> result(timeline.calls.size());
    for (std::uint32_t at = 0; at < timeline.activities.size(); ++at) {
        if (timeline.activities[at].call != kNone) {
            result[timeline.activities[at].call].push_back(at);
        }
    }
    return result;
}

/// Calls and ranges both come by begin, so one sweep knows at each call which ranges are open.
std::vector<Projection> project(const Timeline& timeline) {
    const auto activities = activities_of_calls(timeline);
    std::vector<Projection> result(timeline.ranges.size());
    std::vector<std::uint32_t> open;
    std::uint32_t next = 0;
    for (std::uint32_t at = timeline.first_call; at < timeline.calls.size(); ++at) {
        const HostCall& call = timeline.calls[at];
        if (!call.is_launch && activities[at].empty()) {
            continue;
        }
        while (next < timeline.ranges.size() && timeline.ranges[next].begin_ns <= call.begin_ns) {
            if (timeline.ranges[next].kind != Range::Kind::kMark) {
                open.push_back(next);
            }
            ++next;
        }
        std::erase_if(open, [&](std::uint32_t range) { return timeline.ranges[range].end_ns < call.begin_ns; });
        for (const std::uint32_t position : open) {
            const HostRange& range = timeline.ranges[position];
            if (range.kind == Range::Kind::kPushPop && range.thread != call.thread) {
                continue;
            }
            result[position].launches += call.is_launch ? 1 : 0;
            for (const std::uint32_t activity : activities[at]) {
                result[position].add(timeline.activities[activity]);
            }
        }
    }
    return result;
}

}  // namespace

std::string_view range_group(std::string_view name) {
    for (std::size_t comma = name.rfind(", "); comma != std::string_view::npos; comma = name.rfind(", ")) {
        const std::string_view part = name.substr(comma + 2);
        const std::size_t equals = part.find(" = ");
        const std::string_view key = part.substr(0, std::min(equals, part.size()));
        const bool counts = (key == "seq" || key == "op_id") && equals != std::string_view::npos &&
                            part.find_first_not_of("0123456789", equals + 3) == std::string_view::npos;
        if (!counts) {
            break;
        }
        name = name.substr(0, comma);
    }
    return name;
}

std::vector<RangeRow> range_table(const Model& model, const Timeline& timeline) {
    const std::vector<Projection> projections = project(timeline);
    std::map<std::tuple<std::uint32_t, std::string_view, Range::Kind>, std::pair<RangeRow, Samples>> groups;
    for (std::size_t at = 0; at < timeline.ranges.size(); ++at) {
        const HostRange& range = timeline.ranges[at];
        const Projection& projection = projections[at];
        const std::string_view name = range_group(model.index.symbols.text(range.name));
        auto& [row, durations] = groups[{range.domain, name, range.kind}];
        ++row.count;
        row.open += range.open ? 1 : 0;
        if (range.kind != Range::Kind::kMark) {
            durations.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, range.end_ns - range.begin_ns)));
        }
        row.launches += projection.launches;
        row.kernels += projection.kernels;
        row.gpu_ns += projection.gpu_ns;
        row.projected_ns += static_cast<std::uint64_t>(projection.end_ns - projection.begin_ns);
    }
    std::vector<RangeRow> rows;
    for (auto& [key, group] : groups) {
        const auto& [domain, name, kind] = key;
        RangeRow& row = group.first;
        row.kind = kind;
        row.domain = model.index.symbols.text(domain);
        row.name = name;
        row.duration = duration_stats(group.second);
        rows.push_back(std::move(row));
    }
    std::sort(rows.begin(), rows.end(), [](const RangeRow& a, const RangeRow& b) {
        return std::tie(b.duration.time_ns, b.count, a.domain, a.name) <
               std::tie(a.duration.time_ns, a.count, b.domain, b.name);
    });
    return rows;
}

}  // namespace gpuspy::analysis

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
        widen({.begin_ns = activity.begin_ns, .end_ns = activity.end_ns, .any = true});
    }

    /// Takes the other's time in: from the first begin to the last end.
    void widen(const Projection& other) {
        if (other.any) {
            begin_ns = any ? std::min(begin_ns, other.begin_ns) : other.begin_ns;
            end_ns = any ? std::max(end_ns, other.end_ns) : other.end_ns;
            any = true;
        }
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

/// Calls that launched something, by begin, and what happened because of those of any stretch of time: in O(log calls), since
/// thousands of ranges may be open around thousands of launches.
class LaunchTotals {
public:
    /// By begin.
    void add(std::int64_t begin_ns, const Projection& what) {
        begins_ns_.push_back(begin_ns);
        Projection sum = sums_.back();
        sum.launches += what.launches;
        sum.kernels += what.kernels;
        sum.gpu_ns += what.gpu_ns;
        sums_.push_back(sum);
        ran_.push_back(what);
    }

    /// Behind the last add().
    void finish() {
        ran_.insert(ran_.begin(), ran_.size(), {});
        for (std::size_t node = begins_ns_.size(); node-- > 1;) {
            ran_[node].widen(ran_[2 * node]);
            ran_[node].widen(ran_[2 * node + 1]);
        }
    }

    /// Of the calls that begin in [begin_ns, end_ns].
    [[nodiscard]] Projection between(std::int64_t begin_ns, std::int64_t end_ns) const {
        const auto first = std::lower_bound(begins_ns_.begin(), begins_ns_.end(), begin_ns);
        const auto last = std::upper_bound(first, begins_ns_.end(), end_ns);
        const auto from = static_cast<std::size_t>(first - begins_ns_.begin());
        const auto to = static_cast<std::size_t>(last - begins_ns_.begin());
        Projection result;
        result.launches = sums_[to].launches - sums_[from].launches;
        result.kernels = sums_[to].kernels - sums_[from].kernels;
        result.gpu_ns = sums_[to].gpu_ns - sums_[from].gpu_ns;
        const std::size_t count = begins_ns_.size();
        for (std::size_t low = from + count, high = to + count; low < high; low /= 2, high /= 2) {
            if (low % 2 == 1) {
                result.widen(ran_[low++]);
            }
            if (high % 2 == 1) {
                result.widen(ran_[--high]);
            }
        }
        return result;
    }

private:
    std::vector<std::int64_t> begins_ns_;
    std::vector<Projection> sums_{1};  // [i]: of the first i calls; counts and gpu_ns alone.
    std::vector<Projection>
        ran_;  // A tree over when it ran: 2n and 2n + 1 lie below n, the calls' own behind all others.
};

std::vector<Projection> project(const Timeline& timeline) {
    const auto activities = activities_of_calls(timeline);
    LaunchTotals all;
    std::map<std::uint32_t, LaunchTotals> threads;
    for (std::uint32_t at = timeline.first_call; at < timeline.calls.size(); ++at) {
        const HostCall& call = timeline.calls[at];
        if (!call.is_launch && activities[at].empty()) {
            continue;
        }
        Projection what;
        what.launches = call.is_launch ? 1 : 0;
        for (const std::uint32_t activity : activities[at]) {
            what.add(timeline.activities[activity]);
        }
        all.add(call.begin_ns, what);
        threads[call.thread].add(call.begin_ns, what);
    }
    all.finish();
    for (auto& [thread, totals] : threads) {
        totals.finish();
    }
    std::vector<Projection> result(timeline.ranges.size());
    for (std::size_t at = 0; at < timeline.ranges.size(); ++at) {
        const HostRange& range = timeline.ranges[at];
        if (range.kind == Range::Kind::kStartEnd) {
            result[at] = all.between(range.begin_ns, range.end_ns);
        } else if (const auto of_thread = threads.find(range.thread);
                   range.kind == Range::Kind::kPushPop && of_thread != threads.end()) {
            result[at] = of_thread->second.between(range.begin_ns, range.end_ns);
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

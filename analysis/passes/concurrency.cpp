#include "analysis/passes/concurrency.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/passes/activity_edges.hpp"
#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

enum Kind : std::uint8_t { kCompute, kCopy, kCommunication, kSetting, kKinds };

std::uint64_t length(std::int64_t begin_ns, std::int64_t end_ns) {
    return static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(begin_ns);
}

/// Tells kernels that communicate from others.
class Kinds {
public:
    explicit Kinds(const Model& model) : model_(model) {}

    [[nodiscard]] bool owned_by_nccl(const DeviceActivity& activity) const {
        return model_.owners.at(activity.owner).library == "nccl";
    }

    Kind of(const DeviceActivity& activity) {
        if (activity.record.kind != ActivityKind::kKernel) {
            return activity.record.kind == ActivityKind::kMemcpy ? kCopy : kSetting;
        }
        return owned_by_nccl(activity) || named_nccl(activity.record.name) ? kCommunication : kCompute;
    }

private:
    bool named_nccl(std::uint32_t name) {
        const auto [found, added] = named_.try_emplace(name);
        if (added) {
            const std::string_view text = model_.kernel_name(name);
            found->second = text.find("ncclKernel") != text.npos || text.find("ncclDevKernel") != text.npos;
        }
        return found->second;
    }

    const Model& model_;
    std::map<std::uint32_t, bool> named_;
};

/// The streams among which pairs are looked for.
std::set<std::uint64_t> paired_streams(const std::map<std::uint64_t, StreamUse>& streams) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> by_time;  // sum, stream
    for (const auto& [stream, use] : streams) {
        by_time.emplace_back(use.sum_ns, stream);
    }
    std::stable_sort(by_time.begin(), by_time.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    by_time.resize(std::min(by_time.size(), kPairedStreams));
    std::set<std::uint64_t> chosen;
    for (const auto& [sum_ns, stream] : by_time) {
        chosen.insert(stream);
    }
    return chosen;
}

/// Walks along the edges of one device.
class Sweep {
public:
    /// `paired`: the streams of which pairs are looked for.
    explicit Sweep(std::set<std::uint64_t> paired) : paired_(std::move(paired)) {}

    void step(std::int64_t at_ns, bool begins, std::uint64_t stream, Kind kind) {
        advance(at_ns);
        begins ? begin(stream, kind) : end(stream, kind);
    }

    std::vector<std::uint64_t> level_ns;  // by level; [0] is the time between activities
    std::array<std::uint64_t, kKinds> kind_ns{};
    std::array<std::array<std::uint64_t, kKinds>, kKinds> both_ns{};
    std::map<std::uint64_t, std::uint64_t> stream_ns;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> pair_ns;

private:
    struct Active {
        std::uint64_t activities = 0;
        std::int64_t since_ns = 0;
    };

    void advance(std::int64_t at_ns) {
        if (level_ns.size() <= level_) {
            level_ns.resize(level_ + 1);
        }
        const std::uint64_t passed_ns = begun_ ? length(now_ns_, at_ns) : 0;
        level_ns[level_] += passed_ns;
        for (std::size_t a = 0; a < kKinds; ++a) {
            if (kinds_[a] == 0) {
                continue;
            }
            kind_ns[a] += passed_ns;
            for (std::size_t b = 0; b < a; ++b) {
                both_ns[a][b] += kinds_[b] == 0 ? 0 : passed_ns;
                both_ns[b][a] = both_ns[a][b];
            }
        }
        now_ns_ = at_ns;
        begun_ = true;
    }

    void begin(std::uint64_t stream, Kind kind) {
        ++level_;
        ++kinds_[kind];
        if (const auto [found, added] = active_.try_emplace(stream, Active{1, now_ns_}); !added) {
            ++found->second.activities;
        } else if (paired_.count(stream) != 0) {
            paired_since_ns_.emplace(stream, now_ns_);
        }
    }

    void end(std::uint64_t stream, Kind kind) {
        --level_;
        --kinds_[kind];
        const auto found = active_.find(stream);
        if (--found->second.activities != 0) {
            return;
        }
        // Pairs are added up where a stream falls idle: only the streams that are busy then are looked at.
        const std::int64_t since_ns = found->second.since_ns;
        active_.erase(found);
        stream_ns[stream] += length(since_ns, now_ns_);
        if (paired_since_ns_.erase(stream) == 0) {
            return;
        }
        for (const auto& [other, other_since_ns] : paired_since_ns_) {
            const std::int64_t both_since_ns = std::max(since_ns, other_since_ns);
            if (both_since_ns < now_ns_) {
                pair_ns[std::minmax(stream, other)] += length(both_since_ns, now_ns_);
            }
        }
    }

    bool begun_ = false;
    std::int64_t now_ns_ = 0;
    std::size_t level_ = 0;
    std::array<std::uint64_t, kKinds> kinds_{};
    std::map<std::uint64_t, Active> active_;
    const std::set<std::uint64_t> paired_;
    std::map<std::uint64_t, std::int64_t> paired_since_ns_;  // Of the active ones of them: by stream, since when.
};

std::vector<KindOverlap> overlaps(const Sweep& sweep) {
    std::vector<KindOverlap> rows;
    const auto add = [&](const char* kind, Kind a, const char* beside, Kind b) {
        if (sweep.kind_ns[a] != 0) {
            rows.push_back({kind, beside, sweep.kind_ns[a], sweep.kind_ns[b], sweep.both_ns[a][b],
                            ratio(sweep.both_ns[a][b], sweep.kind_ns[a])});
        }
    };
    add("copies", kCopy, "compute", kCompute);
    add("communication", kCommunication, "compute", kCompute);
    add("communication", kCommunication, "copies", kCopy);
    return rows;
}

void add_levels(DeviceConcurrency& device, Sweep& sweep, std::optional<std::uint64_t> wall_ns) {
    sweep.level_ns.resize(std::max<std::size_t>(sweep.level_ns.size(), 1));
    for (std::size_t level = 1; level < sweep.level_ns.size(); ++level) {
        device.busy_ns += sweep.level_ns[level];
        device.sum_ns += level * sweep.level_ns[level];
        device.peak = sweep.level_ns[level] == 0 ? device.peak : level;
    }
    device.average = ratio(device.sum_ns, device.busy_ns);
    if (wall_ns) {
        sweep.level_ns[0] = *wall_ns - device.busy_ns;  // Before the first and behind the last activity too.
    }
    for (std::size_t level = wall_ns ? 0 : 1; level < sweep.level_ns.size(); ++level) {
        const std::uint64_t time_ns = sweep.level_ns[level];
        if (time_ns == 0) {
            continue;
        }
        InFlight& row = device.levels.emplace_back();
        row.level = level;
        row.time_ns = time_ns;
        if (wall_ns) {
            row.share_of_wall = ratio(time_ns, *wall_ns);
        }
        if (level != 0) {
            row.share_of_busy = ratio(time_ns, device.busy_ns);
        }
    }
}

}  // namespace

Concurrency concurrency(const Model& model, const Timeline& timeline) {
    Concurrency result;
    result.wall_known = timeline.device_clock_known;
    const std::optional<std::uint64_t> wall_ns = result.wall_known ? std::optional(timeline.wall_ns()) : std::nullopt;
    const Interval range = range_of(timeline);
    Kinds kinds(model);
    for (const auto& [ordinal, activities] : activities_by_device(timeline)) {
        DeviceConcurrency& device = result.devices.emplace_back();
        device.ordinal = ordinal;
        if (const auto named = model.index.devices.find(ordinal); named != model.index.devices.end()) {
            device.name = named->second.name;
        }
        std::map<std::uint64_t, StreamUse> streams;
        for (const DeviceActivity& activity : activities) {
            ++device.activities;
            device.untimed += activity.timed ? 0 : 1;
            if (kinds.of(activity) == kCommunication) {
                ++device.communication;
                device.by_name_alone += kinds.owned_by_nccl(activity) ? 0 : 1;
            }
            StreamUse& stream = streams[activity.record.stream];
            ++stream.activities;
            const Interval part = cut_to(activity, range);
            stream.sum_ns += part.begin_ns < part.end_ns ? length(part.begin_ns, part.end_ns) : 0;
        }
        device.not_paired = streams.size() - std::min(streams.size(), kPairedStreams);
        Sweep sweep(paired_streams(streams));
        for (const Edge& edge : activity_edges(activities, range)) {
            const DeviceActivity& activity = activities[edge.activity];
            sweep.step(edge.at_ns, edge.begins, activity.record.stream, kinds.of(activity));
        }
        add_levels(device, sweep, wall_ns);
        for (auto& [number, stream] : streams) {
            stream.stream = number;
            stream.busy_ns = sweep.stream_ns[number];
            stream.share_of_busy = ratio(stream.busy_ns, device.busy_ns);
            if (wall_ns) {
                stream.share_of_wall = ratio(stream.busy_ns, *wall_ns);
            }
            device.streams.push_back(stream);
        }
        for (const auto& [pair, both_ns] : sweep.pair_ns) {
            const std::uint64_t shorter_ns = std::min(sweep.stream_ns[pair.first], sweep.stream_ns[pair.second]);
            device.pairs.push_back({pair.first, pair.second, both_ns, ratio(both_ns, shorter_ns)});
        }
        std::stable_sort(device.streams.begin(), device.streams.end(),
                         [](const StreamUse& a, const StreamUse& b) { return a.busy_ns > b.busy_ns; });
        std::stable_sort(device.pairs.begin(), device.pairs.end(),
                         [](const StreamPair& a, const StreamPair& b) { return a.both_ns > b.both_ns; });
        device.overlap = overlaps(sweep);
    }
    return result;
}

}  // namespace gpuspy::analysis

#include "analysis/passes/default_stream.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace gpuspy::analysis {
namespace {

using Stream = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // device, context, CUPTI's stream id

struct StreamWork {
    bool is_default = false;
    std::vector<const DeviceActivity*> activities;  // with a time, by begin
};

/// Handle 0 and cudaStreamLegacy; calls whose stream 0 is the thread's own are recorded with 2.
bool on_default_stream(const Timeline& timeline, const DeviceActivity& activity) {
    return activity.call != kNone && !activity.record.has(abi::kDeviceGraph) &&
           timeline.calls[activity.call].has(abi::kCallStream) && timeline.calls[activity.call].stream <= 1;
}

/// The work of a stream that began last before a moment; nullptr: none did.
const DeviceActivity* last_begun_before(const StreamWork& work, std::int64_t moment_ns) {
    const auto after = std::lower_bound(
        work.activities.begin(), work.activities.end(), moment_ns,
        [](const DeviceActivity* activity, std::int64_t moment) { return activity->begin_ns < moment; });
    return after == work.activities.begin() ? nullptr : *(after - 1);
}

/// How long `activity`, ready at `ready_ns`, waited while `other` ran, if it seems to have waited for it: launched later, it
/// began when the other had ended, and at most as long after that as it had waited. 0 if not.
std::uint64_t held_up_ns(const Timeline& timeline, const DeviceActivity& activity, std::int64_t ready_ns,
                         const DeviceActivity* other) {
    if (other == nullptr || other->call == kNone || other->end_ns > activity.begin_ns ||
        timeline.calls[other->call].begin_ns >= timeline.calls[activity.call].begin_ns) {
        return 0;
    }
    const std::int64_t waited_ns = other->end_ns - std::max(ready_ns, other->begin_ns);
    return waited_ns > 0 && activity.begin_ns - other->end_ns <= waited_ns ? static_cast<std::uint64_t>(waited_ns) : 0;
}

}  // namespace

DefaultStream default_stream(const Timeline& timeline) {
    DefaultStream result;
    std::map<Stream, StreamWork> streams;
    for (const DeviceActivity& activity : timeline.activities) {
        StreamWork& work = streams[{activity.record.device, activity.record.context, activity.record.stream}];
        work.is_default = work.is_default || on_default_stream(timeline, activity);
        if (activity.timed) {
            work.activities.push_back(&activity);
        }
    }
    std::map<std::pair<Stream, Stream>, DefaultStreamWait> waits;
    for (const auto& [stream, work] : streams) {
        result.activities += work.is_default ? work.activities.size() : 0;
        std::int64_t stream_free_ns = INT64_MIN;
        for (const DeviceActivity* activity : work.activities) {
            const std::int64_t before_ns = std::exchange(stream_free_ns, std::max(stream_free_ns, activity->end_ns));
            if (!timeline.device_clock_known || activity->call == kNone || activity->record.has(abi::kDeviceGraph)) {
                continue;
            }
            const std::int64_t ready_ns = std::max(before_ns, timeline.calls[activity->call].end_ns);
            if (activity->begin_ns <= ready_ns) {
                continue;
            }
            for (const auto& [other, other_work] : streams) {
                const bool same_context =
                    std::get<0>(other) == std::get<0>(stream) && std::get<1>(other) == std::get<1>(stream);
                if (other == stream || !same_context || work.is_default == other_work.is_default) {
                    continue;
                }
                const std::uint64_t waited_ns =
                    held_up_ns(timeline, *activity, ready_ns, last_begun_before(other_work, activity->begin_ns));
                if (waited_ns != 0) {
                    DefaultStreamWait& wait = waits[{stream, other}];
                    wait.device = std::get<0>(stream);
                    wait.waiting_stream = std::get<2>(stream);
                    wait.ran_stream = std::get<2>(other);
                    wait.default_waited = work.is_default;
                    ++wait.count;
                    wait.time_ns += waited_ns;
                }
            }
        }
    }
    for (const auto& [pair, wait] : waits) {
        result.waits.push_back(wait);
    }
    std::stable_sort(result.waits.begin(), result.waits.end(),
                     [](const DefaultStreamWait& a, const DefaultStreamWait& b) { return a.time_ns > b.time_ns; });
    return result;
}

}  // namespace gpuspy::analysis

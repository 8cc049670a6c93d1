#include "analysis/model/waiting_times.hpp"

#include <limits>
#include <vector>

namespace gpuspy::analysis {
namespace {

void count(Waiting& waiting, const std::vector<Interval>& intervals, const std::vector<Interval>& busy) {
    for (const Interval& interval : intervals) {
        waiting.time_ns += length_of(interval);
    }
    waiting.gpu_busy_ns += overlap_ns(intervals, busy);
}

}  // namespace

void WaitingTimes::add_wait(std::uint32_t thread, std::uint32_t api, std::int64_t begin_ns, std::int64_t end_ns) {
    open_[{thread, api}].add(begin_ns, end_ns);
}

std::size_t WaitingTimes::settle(std::int64_t moment_ns) {
    const std::vector<Interval> busy = busy_.take_before(moment_ns);
    std::map<std::uint32_t, IntervalSet> threads;
    IntervalSet any_thread;
    for (auto& [key, set] : open_) {
        const std::vector<Interval> intervals = set.take_before(moment_ns);
        count(settled_[key], intervals, busy);
        for (const Interval& interval : intervals) {
            threads[key.first].add(interval.begin_ns, interval.end_ns);
            any_thread.add(interval.begin_ns, interval.end_ns);
        }
    }
    for (const auto& [thread, set] : threads) {
        count(by_thread_[thread], set.merged(), busy);
    }
    count(any_thread_, any_thread.merged(), busy);
    std::size_t left = busy_.kept() + open_.size();
    for (const auto& [key, set] : open_) {
        left += set.kept();
    }
    return left;
}

void WaitingTimes::finish() {
    settle(std::numeric_limits<std::int64_t>::max());
}

std::map<std::uint32_t, Waiting> WaitingTimes::by_api() const {
    std::map<std::uint32_t, Waiting> result;
    for (const auto& [key, waiting] : settled_) {
        result[key.second].time_ns += waiting.time_ns;
        result[key.second].gpu_busy_ns += waiting.gpu_busy_ns;
    }
    return result;
}

}  // namespace gpuspy::analysis

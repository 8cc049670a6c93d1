// How long threads waited for devices, and how long of that a device was busy. In memory for what is not settled: an interval
// is forgotten once nothing can come any more that begins before its end.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "analysis/model/interval_set.hpp"

namespace gpuspy::analysis {

struct Waiting {
    std::uint64_t time_ns = 0;      ///< Union.
    std::uint64_t gpu_busy_ns = 0;  ///< Of that, while any device was busy.
};

/// All times are the host's.
class WaitingTimes {
public:
    void add_busy(std::int64_t begin_ns, std::int64_t end_ns) { busy_.add(begin_ns, end_ns); }
    /// `api` (Symbols::apis()) is that of an outermost blocking call of the thread (Symbols::threads()).
    void add_wait(std::uint32_t thread, std::uint32_t api, std::int64_t begin_ns, std::int64_t end_ns);
    /// Nothing that begins before `moment_ns` will be added any more. Returns what the next call has to look at again.
    std::size_t settle(std::int64_t moment_ns);
    /// Nothing will be added any more; the times below hold from now on.
    void finish();

    [[nodiscard]] const std::map<std::uint32_t, Waiting>& by_thread() const { return by_thread_; }
    /// Of each thread added up.
    [[nodiscard]] std::map<std::uint32_t, Waiting> by_api() const;
    /// Some thread was waiting.
    [[nodiscard]] const Waiting& any_thread() const { return any_thread_; }

private:
    using ThreadAndApi = std::pair<std::uint32_t, std::uint32_t>;

    IntervalSet busy_;
    std::map<ThreadAndApi, IntervalSet> open_;
    std::map<ThreadAndApi, Waiting> settled_;
    std::map<std::uint32_t, Waiting> by_thread_;
    Waiting any_thread_;
};

}  // namespace gpuspy::analysis

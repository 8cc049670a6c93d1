#include "analysis/passes/iterations.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/passes/period.hpp"

namespace gpuspy::analysis {
namespace {

struct LaunchSequence {
    std::vector<std::uint32_t> calls;    ///< Timeline::calls
    std::vector<std::uint32_t> symbols;  ///< What each launches, numbered.
    std::vector<std::uint32_t> weights;  ///< Device records of each; 1 where none came.
};

LaunchSequence launch_sequence(const Model& model, const Timeline& timeline) {
    LaunchSequence sequence;
    // A kernel is known by its name where there is one: modules may be loaded again, at other addresses.
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> numbers;
    std::unordered_map<std::uint64_t, std::uint64_t> names;
    for (std::uint32_t at = timeline.first_call; at < timeline.calls.size(); ++at) {
        const HostCall& call = timeline.calls[at];
        if (!call.is_launch || call.has(abi::kCallCaptured) || call.has(abi::kCallStatus)) {
            continue;
        }
        std::pair<std::uint64_t, std::uint64_t> what(2, call.graph_exec);
        if (!call.has(abi::kCallGraph)) {
            const auto [name, added] = names.try_emplace(call.function, kNone);
            if (added) {
                name->second = model.index.names.name_at(call.function, 0).value_or(kNone);
            }
            what = name->second == kNone ? std::pair<std::uint64_t, std::uint64_t>(1, call.function)
                                         : std::pair<std::uint64_t, std::uint64_t>(0, name->second);
        }
        const auto number = numbers.try_emplace(what, static_cast<std::uint32_t>(numbers.size())).first->second;
        sequence.calls.push_back(at);
        sequence.symbols.push_back(number);
    }
    std::vector<std::uint32_t> records(timeline.calls.size(), 0);
    for (const DeviceActivity& activity : timeline.activities) {
        if (activity.call != kNone) {
            ++records[activity.call];
        }
    }
    for (const std::uint32_t call : sequence.calls) {
        sequence.weights.push_back(std::max(1U, records[call]));
    }
    return sequence;
}

std::uint64_t median_of(std::vector<std::uint64_t> values) {
    if (values.empty()) {
        return 0;
    }
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// The place in the round before which the host pauses longest, by the median over the rounds of the later half.
std::size_t longest_pause(const Timeline& timeline, const LaunchSequence& sequence, std::size_t period) {
    constexpr std::size_t kRoundsAsked = 16;
    const std::size_t launches = sequence.calls.size();
    const std::size_t rounds = std::min(kRoundsAsked, launches / 2 / period);
    const std::size_t first = launches - std::max<std::size_t>(1, rounds) * period;
    std::size_t best = first;
    std::uint64_t longest = 0;
    for (std::size_t phase = 0; phase < period; ++phase) {
        std::vector<std::uint64_t> pauses;
        for (std::size_t at = first + phase; at < launches; at += period) {
            const std::int64_t before = at == 0 ? 0 : timeline.calls[sequence.calls[at - 1]].end_ns;
            const std::int64_t pause = at == 0 ? 0 : timeline.calls[sequence.calls[at]].begin_ns - before;
            pauses.push_back(pause > 0 ? static_cast<std::uint64_t>(pause) : 0);
        }
        const std::uint64_t median = median_of(std::move(pauses));
        if (median > longest) {
            longest = median;
            best = first + phase;
        }
    }
    // A whole round must follow it.
    return best + period > launches ? best - period : best;
}

/// The launches of round `round`: up to the next one. What follows the last is not known to be of it beyond a period.
std::pair<std::size_t, std::size_t> round_at(const std::vector<std::size_t>& rounds, std::size_t round,
                                             std::size_t period, std::size_t launches) {
    const std::size_t end = round + 1 < rounds.size() ? rounds[round + 1] : std::min(rounds[round] + period, launches);
    return {rounds[round], end};
}

/// Marks the rounds whose launches are those of most.
void find_regular(const LaunchSequence& sequence, const std::vector<std::size_t>& rounds, std::size_t period,
                  std::vector<Iteration>& rows) {
    std::vector<std::u32string> contents;
    std::map<std::u32string, std::size_t> counts;
    for (std::size_t round = 0; round < rounds.size(); ++round) {
        const auto [begin, end] = round_at(rounds, round, period, sequence.calls.size());
        contents.emplace_back(sequence.symbols.begin() + static_cast<std::ptrdiff_t>(begin),
                              sequence.symbols.begin() + static_cast<std::ptrdiff_t>(end));
        ++counts[contents.back()];
    }
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    for (std::size_t round = 0; round < rounds.size(); ++round) {
        rows[round].regular = contents[round] == most->first;
    }
}

/// Device records and waits, to the iterations whose calls they are.
void fill(const Timeline& timeline, const std::vector<std::uint32_t>& iteration_of_call, Iterations& result) {
    std::vector<std::map<std::uint64_t, IntervalSet>> busy(result.rows.size());
    for (const DeviceActivity& activity : timeline.activities) {
        const std::uint32_t iteration = activity.call == kNone ? kNone : iteration_of_call[activity.call];
        if (iteration == kNone) {
            continue;
        }
        Iteration& row = result.rows[iteration];
        row.kernels += activity.record.kind == ActivityKind::kKernel ? 1 : 0;
        if (activity.timed && timeline.device_clock_known) {
            row.gpu_ns += activity.record.duration_ns;
            busy[iteration][activity.record.device].add(activity.begin_ns, activity.end_ns);
            const bool first = row.device_end_ns == 0;
            row.device_begin_ns = first ? activity.begin_ns : std::min(row.device_begin_ns, activity.begin_ns);
            row.device_end_ns = std::max(row.device_end_ns, activity.end_ns);
        }
    }
    for (std::size_t row = 0; row + 1 < result.rows.size(); ++row) {
        if (result.rows[row].on_device() && result.rows[row + 1].on_device()) {
            result.rows[row].device_end_ns = result.rows[row + 1].device_begin_ns;
        }
    }
    std::vector<std::map<std::uint32_t, IntervalSet>> waiting(result.rows.size());
    for (std::uint32_t at = timeline.first_call; at < timeline.calls.size(); ++at) {
        const HostCall& call = timeline.calls[at];
        if (call.outermost_blocking && iteration_of_call[at] != kNone) {
            waiting[iteration_of_call[at]][call.thread].add(call.begin_ns, call.end_ns);
        }
    }
    for (std::size_t row = 0; row < result.rows.size(); ++row) {
        for (const auto& [device, set] : busy[row]) {
            result.rows[row].busy_ns += set.length_ns();
        }
        for (const auto& [thread, set] : waiting[row]) {
            result.rows[row].sync_ns += set.length_ns();
        }
    }
}

void classify(Iterations& result) {
    std::vector<std::uint64_t> later;
    for (std::size_t row = result.rows.size() / 2; row < result.rows.size(); ++row) {
        later.push_back(result.rows[row].duration_ns());
    }
    const std::uint64_t median = median_of(later);
    std::vector<std::uint64_t> distances;
    for (const std::uint64_t duration : later) {
        distances.push_back(duration > median ? duration - median : median - duration);
    }
    const double sigma = 1.4826 * static_cast<double>(median_of(std::move(distances)));
    const double tenth = 0.1 * static_cast<double>(median);
    const auto longer_by = [median](const Iteration& row) {
        return static_cast<double>(row.duration_ns()) - static_cast<double>(median);
    };
    bool warm = false;
    std::vector<std::uint64_t> steady;
    for (Iteration& row : result.rows) {
        warm |= longer_by(row) <= std::max(tenth, 3 * sigma);
        row.kind = !warm                                         ? IterationKind::kWarmUp
                   : longer_by(row) > std::max(tenth, 5 * sigma) ? IterationKind::kOutlier
                                                                 : IterationKind::kSteady;
        if (warm) {
            steady.push_back(row.duration_ns());
        }
    }
    result.median_ns = median_of(std::move(steady));
}

}  // namespace

std::int64_t Iterations::steady_begin_ns() const {
    for (const Iteration& row : rows) {
        if (row.kind != IterationKind::kWarmUp) {
            return row.on_device() ? row.device_begin_ns : row.begin_ns;
        }
    }
    return 0;
}

std::int64_t Iterations::steady_end_ns() const {
    if (rows.empty() || rows.back().kind == IterationKind::kWarmUp) {
        return 0;
    }
    return rows.back().on_device() ? rows.back().device_end_ns : rows.back().end_ns;
}

std::optional<Selection> Iterations::steady(const Timeline& timeline) const {
    const auto first =
        std::find_if(rows.begin(), rows.end(), [](const Iteration& row) { return row.kind != IterationKind::kWarmUp; });
    if (first == rows.end() || steady_end_ns() <= steady_begin_ns()) {
        return std::nullopt;
    }
    Selection selection;
    selection.from_ns = steady_begin_ns() - timeline.begin_ns;
    selection.to_ns = steady_end_ns() - timeline.begin_ns;
    selection.calls_from_ns = first->begin_ns - timeline.begin_ns;
    selection.calls_to_ns = rows.back().end_ns - timeline.begin_ns;
    return selection;
}

Iterations iterations(const Model& model, const Timeline& timeline) {
    Iterations result;
    const LaunchSequence sequence = launch_sequence(model, timeline);
    const Period period = find_period(sequence.symbols, sequence.weights);
    if (period.length == 0) {
        return result;
    }
    const std::size_t first = longest_pause(timeline, sequence, period.length);
    const std::vector<std::size_t> rounds = find_rounds(sequence.symbols, period, first);
    if (rounds.size() < 2) {
        return result;
    }
    result.found = true;
    result.launches = period.length;
    result.agreement = period.agreement;

    for (std::size_t round = 0; round < rounds.size(); ++round) {
        const auto [begin, end] = round_at(rounds, round, period.length, sequence.calls.size());
        Iteration& row = result.rows.emplace_back();
        row.begin_ns = timeline.calls[sequence.calls[begin]].begin_ns;
        row.launches = end - begin;
        row.end_ns = round + 1 < rounds.size() ? timeline.calls[sequence.calls[end]].begin_ns
                                               : timeline.calls[sequence.calls[end - 1]].end_ns;
    }
    find_regular(sequence, rounds, period.length, result.rows);

    // A call that is no launch belongs to the iteration in whose time it begins.
    std::vector<std::uint32_t> iteration_of_call(timeline.calls.size(), kNone);
    std::size_t row = 0;
    // What follows the last launch of the last iteration is the program's end.
    const std::int64_t last_ns = result.rows.back().end_ns;
    for (std::uint32_t at = timeline.first_call; at < timeline.calls.size(); ++at) {
        const std::int64_t begin = timeline.calls[at].begin_ns;
        while (row + 1 < result.rows.size() && begin >= result.rows[row + 1].begin_ns) {
            ++row;
        }
        if (begin >= result.rows[row].begin_ns && begin < last_ns) {
            iteration_of_call[at] = static_cast<std::uint32_t>(row);
        }
    }
    fill(timeline, iteration_of_call, result);
    classify(result);
    return result;
}

}  // namespace gpuspy::analysis

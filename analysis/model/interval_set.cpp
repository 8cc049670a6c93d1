#include "analysis/model/interval_set.hpp"

#include <algorithm>

namespace gpuspy::analysis {
namespace {

constexpr std::size_t kLeastRecent = 4096;

void append(std::vector<Interval>& merged, const Interval& next) {
    if (!merged.empty() && next.begin_ns <= merged.back().end_ns) {
        merged.back().end_ns = std::max(merged.back().end_ns, next.end_ns);
    } else {
        merged.push_back(next);
    }
}

}  // namespace

void IntervalSet::add(std::int64_t begin_ns, std::int64_t end_ns) {
    begin_ns = std::max(begin_ns, taken_until_ns_);
    if (begin_ns >= end_ns) {
        return;
    }
    if (recent_.empty() && (merged_.empty() || begin_ns >= merged_.back().begin_ns)) {
        append(merged_, {begin_ns, end_ns});
        return;
    }
    recent_.push_back({begin_ns, end_ns});
    if (recent_.size() >= std::max(kLeastRecent, merged_.size() / 2)) {
        compact();
    }
}

void IntervalSet::add(const IntervalSet& other) {
    for (const Interval& interval : other.merged()) {
        add(interval.begin_ns, interval.end_ns);
    }
}

void IntervalSet::compact() const {
    if (recent_.empty()) {
        return;
    }
    const auto by_begin = [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; };
    std::sort(recent_.begin(), recent_.end(), by_begin);
    std::vector<Interval> all;
    all.reserve(merged_.size() + recent_.size());
    auto a = merged_.cbegin();
    auto b = recent_.cbegin();
    while (a != merged_.cend() || b != recent_.cend()) {
        const bool take_a = b == recent_.cend() || (a != merged_.cend() && by_begin(*a, *b));
        append(all, take_a ? *a++ : *b++);
    }
    all.shrink_to_fit();
    merged_ = std::move(all);
    recent_.clear();
}

const std::vector<Interval>& IntervalSet::merged() const {
    compact();
    return merged_;
}

std::uint64_t IntervalSet::length_ns() const {
    std::uint64_t total = 0;
    for (const Interval& interval : merged()) {
        total += length_of(interval);
    }
    return total;
}

std::vector<Interval> IntervalSet::take_before(std::int64_t moment_ns) {
    compact();
    taken_until_ns_ = std::max(taken_until_ns_, moment_ns);
    const auto behind =
        std::lower_bound(merged_.begin(), merged_.end(), moment_ns,
                         [](const Interval& interval, std::int64_t moment) { return interval.begin_ns < moment; });
    std::vector<Interval> taken(merged_.begin(), behind);
    merged_.erase(merged_.begin(), behind);
    if (!taken.empty() && taken.back().end_ns > moment_ns) {
        merged_.insert(merged_.begin(), {moment_ns, taken.back().end_ns});
        taken.back().end_ns = moment_ns;
    }
    return taken;
}

std::uint64_t overlap_ns(const IntervalSet& a, const IntervalSet& b) {
    return overlap_ns(a.merged(), b.merged());
}

std::uint64_t overlap_ns(const std::vector<Interval>& a, const std::vector<Interval>& b) {
    std::uint64_t total = 0;
    auto left = a.begin();
    auto right = b.begin();
    while (left != a.end() && right != b.end()) {
        const std::int64_t begin = std::max(left->begin_ns, right->begin_ns);
        const std::int64_t end = std::min(left->end_ns, right->end_ns);
        if (begin < end) {
            total += length_of({begin, end});
        }
        left->end_ns < right->end_ns ? void(++left) : void(++right);
    }
    return total;
}

}  // namespace gpuspy::analysis

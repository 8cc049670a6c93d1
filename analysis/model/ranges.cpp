#include "analysis/model/ranges.hpp"

#include <algorithm>
#include <tuple>

namespace gpuspy::analysis {

void RangePairer::add(const RangeRecord& record) {
    switch (record.kind) {
        case abi::RangeKind::kPush:
            push(record);
            break;
        case abi::RangeKind::kPop:
            pop(record);
            break;
        case abi::RangeKind::kStart:
            start(record);
            break;
        case abi::RangeKind::kEnd:
            end_of(record);
            break;
        case abi::RangeKind::kMark:
            end(begin(record, Range::Kind::kMark), record.ticks);
            break;
    }
}

std::size_t RangePairer::begin(const RangeRecord& record, Range::Kind kind) {
    Range range;
    range.kind = kind;
    range.open = true;
    range.begin_ticks = record.ticks;
    range.thread = record.thread;
    range.domain = record.domain;
    range.name = record.name;
    list_.ranges.push_back(range);
    return list_.ranges.size() - 1;
}

void RangePairer::end(std::size_t at, std::uint64_t ticks) {
    Range& range = list_.ranges[at];
    range.open = false;
    range.end_ticks = std::max(range.begin_ticks, ticks);
}

void RangePairer::close_from(std::vector<OpenPush>& open, std::uint64_t level, std::uint64_t ticks) {
    while (!open.empty() && open.back().level >= level) {
        end(open.back().at, ticks);
        open.pop_back();
        ++list_.missing_pops;
    }
}

void RangePairer::push(const RangeRecord& record) {
    std::vector<OpenPush>& open = pushes_[{record.thread, record.domain}];
    close_from(open, record.id, record.ticks);
    const std::size_t at = begin(record, Range::Kind::kPushPop);
    list_.ranges[at].depth = static_cast<std::uint32_t>(open.size());
    open.push_back({record.id, at});
}

void RangePairer::pop(const RangeRecord& record) {
    std::vector<OpenPush>& open = pushes_[{record.thread, record.domain}];
    close_from(open, record.id + 1, record.ticks);
    if (open.empty() || open.back().level != record.id) {
        ++list_.missing_pushes;
        return;
    }
    end(open.back().at, record.ticks);
    open.pop_back();
}

void RangePairer::start(const RangeRecord& record) {
    const auto [started, is_new] = starts_.try_emplace(record.id, list_.ranges.size());
    if (!is_new) {
        return;  // Written twice: by its own thread, and as one that was open when the recording began.
    }
    const std::size_t at = begin(record, Range::Kind::kStartEnd);
    if (const auto ended = early_ends_.find(record.id); ended != early_ends_.end()) {
        end(at, ended->second);
        early_ends_.erase(ended);
    }
}

void RangePairer::end_of(const RangeRecord& record) {
    const auto started = starts_.find(record.id);
    if (started == starts_.end()) {
        early_ends_.try_emplace(record.id, record.ticks);
    } else if (list_.ranges[started->second].open) {
        end(started->second, record.ticks);
    } else {
        ++list_.missing_starts;
    }
}

RangeList RangePairer::finish(std::uint64_t last_ticks) {
    for (Range& range : list_.ranges) {
        if (range.open) {
            range.end_ticks = std::max(range.begin_ticks, last_ticks);
        }
    }
    list_.missing_starts += early_ends_.size();
    std::stable_sort(list_.ranges.begin(), list_.ranges.end(), [](const Range& a, const Range& b) {
        return std::tie(a.begin_ticks, b.end_ticks) < std::tie(b.begin_ticks, a.end_ticks);
    });
    return std::move(list_);
}

}  // namespace gpuspy::analysis

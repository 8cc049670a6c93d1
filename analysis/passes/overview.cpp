#include "analysis/passes/overview.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/model/first_fit.hpp"
#include "analysis/passes/copies.hpp"

namespace gpuspy::analysis {
namespace {

using Kind = OverviewCategory::Kind;

/// Numbers in the order of first use.
template <class Value>
class Numbered {
public:
    std::uint32_t number(Value value) {
        const auto [found, added] = numbers_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
        if (added) {
            values_.push_back(std::move(value));
        }
        return found->second;
    }
    std::vector<Value> take() { return std::move(values_); }

private:
    std::map<Value, std::uint32_t> numbers_;
    std::vector<Value> values_;
};

OverviewCategory category_of(const ApiInfo& api) {
    if (api.level == abi::ApiLevel::kLibrary) {
        return {Kind::kOwner, api.library};
    }
    if (api.blocking()) {
        return {Kind::kWait, "blocking call"};
    }
    return api.launches() ? OverviewCategory{Kind::kLaunch, "launch"} : OverviewCategory{Kind::kOther, "other call"};
}

/// Collects blocks, which must come by begin, in as few rows as have no overlap.
class Rows {
public:
    void add(const OverviewLane& lane, const OverviewBlock& block) {
        const std::size_t at = ends_.first_at_most(static_cast<std::int64_t>(block.begin_ns));
        if (at >= rows_.size()) {
            rows_.push_back(lane);
            rows_.back().row = static_cast<std::uint32_t>(rows_.size() - 1);
        }
        ends_.set(at, static_cast<std::int64_t>(block.begin_ns + block.length_ns));
        OverviewLane& row = rows_[at];
        row.count += block.count;
        row.time_ns += block.time_ns;
        row.blocks.push_back(block);
        time_ns_ += block.time_ns;
    }
    [[nodiscard]] std::uint64_t time_ns() const { return time_ns_; }
    void move_to(std::vector<OverviewLane>& lanes) { std::move(rows_.begin(), rows_.end(), std::back_inserter(lanes)); }

private:
    std::vector<OverviewLane> rows_;  // Until merge(): an activity or a call for each block.
    FirstFit ends_;                   // By row: where its last block ends.
    std::uint64_t time_ns_ = 0;
};

/// Whether two neighbours are drawn as one.
bool same_pixel(const OverviewBlock& first, const OverviewBlock& second, std::uint64_t pixel_ns) {
    return first.length_ns < pixel_ns && second.length_ns < pixel_ns &&
           first.begin_ns / pixel_ns == second.begin_ns / pixel_ns;
}

std::size_t count_blocks(const std::vector<OverviewLane>& lanes, std::uint64_t pixel_ns) {
    std::size_t count = 0;
    for (const OverviewLane& lane : lanes) {
        for (std::size_t i = 0; i < lane.blocks.size(); ++i) {
            count += i > 0 && same_pixel(lane.blocks[i - 1], lane.blocks[i], pixel_ns) ? 0 : 1;
        }
    }
    return count;
}

OverviewBlock merged(const OverviewBlock* first, const OverviewBlock* last) {
    OverviewBlock all = *first;
    all.count = all.time_ns = 0;
    std::uint64_t longest_ns = 0, most_ns = 0;
    std::map<std::uint32_t, std::uint64_t> by_category;
    for (const OverviewBlock* block = first; block != last; ++block) {
        all.count += block->count;
        all.time_ns += block->time_ns;
        all.length_ns = std::max(all.length_ns, block->begin_ns + block->length_ns - all.begin_ns);
        by_category[block->category] += block->time_ns;
        if (block->length_ns > longest_ns) {
            longest_ns = block->length_ns;
            all.name = block->name;
        }
    }
    for (const auto& [category, time_ns] : by_category) {
        if (time_ns > most_ns) {
            most_ns = time_ns;
            all.category = category;
        }
    }
    return all;
}

void merge(OverviewLane& lane, std::uint64_t pixel_ns) {
    std::vector<OverviewBlock> blocks;
    const OverviewBlock* const end = lane.blocks.data() + lane.blocks.size();
    for (const OverviewBlock* first = lane.blocks.data(); first != end;) {
        const OverviewBlock* last = first + 1;
        while (last != end && same_pixel(*(last - 1), *last, pixel_ns)) {
            ++last;
        }
        blocks.push_back(last - first == 1 ? *first : merged(first, last));
        first = last;
    }
    lane.blocks = std::move(blocks);
}

}  // namespace

Overview overview(const Model& model, const Timeline& timeline, std::size_t max_blocks) {
    Overview all;
    all.wall_ns = timeline.wall_ns();
    Numbered<OverviewCategory> categories;
    Numbered<OverviewName> names;
    const auto block_at = [&timeline](std::int64_t begin_ns, std::int64_t end_ns) {
        OverviewBlock block;
        block.begin_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, begin_ns - timeline.begin_ns));
        block.length_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, end_ns - begin_ns));
        block.count = 1;
        return block;
    };

    std::map<std::pair<std::uint64_t, std::uint64_t>, Rows> streams;  // by device, stream
    for (const DeviceActivity& activity : timeline.activities) {
        if (!activity.timed || !timeline.device_clock_known) {
            ++all.unplaced;
            continue;
        }
        const ActivityRecord& record = activity.record;
        OverviewBlock block = block_at(activity.begin_ns, activity.end_ns);
        block.time_ns = record.duration_ns;
        if (record.kind == ActivityKind::kKernel) {
            block.name = names.number({model.kernel_name(record.name), true});
            block.category = categories.number({Kind::kOwner, model.owners.at(activity.owner).name});
        } else {
            const std::string direction =
                direction_name(record.kind == ActivityKind::kMemset ? static_cast<std::uint64_t>(abi::CopyKind::kSet)
                                                                    : record.copy_kind);
            block.name = names.number({direction, false});
            block.category = categories.number({Kind::kCopy, direction});
        }
        OverviewLane lane;
        lane.device = record.device;
        lane.stream = record.stream;
        streams[{record.device, record.stream}].add(lane, block);
    }
    std::map<std::uint32_t, Rows> threads;
    for (const HostCall& call : timeline.own_calls()) {
        if (!timeline.is_outermost(call)) {
            continue;
        }
        const ApiInfo& api = model.index.symbols.api(call.api);
        OverviewBlock block = block_at(call.begin_ns, call.end_ns);
        block.time_ns = call.duration_ns();
        block.name = names.number({api.name, false});
        block.category = categories.number(category_of(api));
        OverviewLane lane;
        lane.host = true;
        lane.tid = model.index.symbols.threads()[call.thread].tid;
        lane.thread_name = model.index.symbols.threads()[call.thread].name;
        threads[call.thread].add(lane, block);
    }

    for (auto& [stream, rows] : streams) {
        rows.move_to(all.lanes);
    }
    std::vector<Rows*> by_time;
    for (auto& [thread, rows] : threads) {
        by_time.push_back(&rows);
    }
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const Rows* a, const Rows* b) { return a->time_ns() > b->time_ns(); });
    for (Rows* rows : by_time) {
        rows->move_to(all.lanes);
    }
    all.categories = categories.take();
    all.names = names.take();

    if (count_blocks(all.lanes, 0) > max_blocks) {
        // Beyond the wall time everything of a lane is one block, so that the bound is met or cannot be.
        all.pixel_ns = std::max<std::uint64_t>(1, all.wall_ns / max_blocks);
        while (all.pixel_ns <= all.wall_ns && count_blocks(all.lanes, all.pixel_ns) > max_blocks) {
            all.pixel_ns *= 2;
        }
        for (OverviewLane& lane : all.lanes) {
            merge(lane, all.pixel_ns);
        }
    }
    return all;
}

}  // namespace gpuspy::analysis

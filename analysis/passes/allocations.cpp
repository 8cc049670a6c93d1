#include "analysis/passes/allocations.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace gpuspy::analysis {
namespace {

struct Tally {
    PlaceUse use;
    std::vector<Step> steps;
};

/// Follows the events in the order of time.
class Ledger {
public:
    Ledger(std::int64_t begin_ns, Allocations& result) : begin_ns_(begin_ns), result_(result) {}

    void add(const MemoryEvent& event) {
        switch (event.action) {
            case MemoryAction::kAllocate:
                allocate(event);
                break;
            case MemoryAction::kFree:
                if (!free(addresses_, event.address, event.at_ns)) {
                    ++result_.unknown_frees;
                }
                break;
            case MemoryAction::kMap:
                ++mappings_[event.handle];
                mapped_[event.address] = event.handle;
                break;
            case MemoryAction::kUnmap:
                unmap(event);
                break;
            case MemoryAction::kRelease:
                released_.insert(event.address);
                free_handle(event.address, event.at_ns);
                break;
            case MemoryAction::kNotKnown:
                break;
        }
    }

    [[nodiscard]] std::map<MemoryPlace, Tally>& tallies() { return tallies_; }
    template <class Visit>
    void for_each_live(Visit visit) const {
        for (const auto* live : {&addresses_, &handles_}) {
            for (const auto& [address, event] : *live) {
                visit(event);
            }
        }
    }

private:
    using Live = std::unordered_map<std::uint64_t, MemoryEvent>;

    void allocate(const MemoryEvent& event) {
        Live& live = event.place == MemoryPlace::kPhysical ? handles_ : addresses_;
        if (free(live, event.address, event.at_ns)) {
            ++result_.replaced;
        }
        if (event.place == MemoryPlace::kPhysical) {
            released_.erase(event.address);
            mappings_.erase(event.address);
        }
        live[event.address] = event;
        Tally& tally = tallies_[event.place];
        tally.steps.push_back({event.at_ns, static_cast<std::int64_t>(event.bytes)});
        if (event.at_ns >= begin_ns_) {
            ++tally.use.allocations;
            tally.use.allocated_bytes += event.bytes;
        }
    }

    bool free(Live& live, std::uint64_t address, std::int64_t at_ns) {
        const auto found = live.find(address);
        if (found == live.end()) {
            return false;
        }
        Tally& tally = tallies_[found->second.place];
        tally.steps.push_back({at_ns, static_cast<std::int64_t>(0 - found->second.bytes)});
        tally.use.frees += at_ns >= begin_ns_ ? 1 : 0;
        live.erase(found);
        return true;
    }

    /// All that is mapped in the range: one call may end several mappings.
    void unmap(const MemoryEvent& event) {
        auto at = mapped_.lower_bound(event.address);
        while (at != mapped_.end() && at->first - event.address < event.bytes) {
            const std::uint64_t handle = at->second;
            at = mapped_.erase(at);
            std::uint64_t& mappings = mappings_[handle];
            mappings -= mappings == 0 ? 0 : 1;  // 0: the handle was given out again since.
            free_handle(handle, event.at_ns);
        }
    }

    /// cuMemRelease: the memory goes once its handle is released and nothing maps it.
    void free_handle(std::uint64_t handle, std::int64_t at_ns) {
        if (released_.count(handle) != 0 && mappings_[handle] == 0) {
            free(handles_, handle, at_ns);
        }
    }

    std::int64_t begin_ns_;
    Allocations& result_;
    std::map<MemoryPlace, Tally> tallies_;
    Live addresses_, handles_;
    std::map<std::uint64_t, std::uint64_t> mapped_;              // address -> handle
    std::unordered_map<std::uint64_t, std::uint64_t> mappings_;  // handle -> how many
    std::unordered_set<std::uint64_t> released_;                 // handles
};

}  // namespace

Allocations allocations(const Model& model, const Timeline& timeline) {
    Allocations result;
    Ledger ledger(timeline.begin_ns, result);
    std::map<std::string, std::uint64_t> not_covered;
    for (const MemoryEvent& event : timeline.memory) {
        ledger.add(event);
        if (event.action == MemoryAction::kNotKnown) {
            ++not_covered[model.index.symbols.api(event.api).name];
        }
    }
    for (const auto& [call, count] : not_covered) {
        result.not_covered.push_back({call, count});
    }
    std::map<std::tuple<MemoryPlace, std::uint64_t, std::uint32_t, std::uint32_t>, NotFreed> groups;
    ledger.for_each_live([&](const MemoryEvent& event) {
        ++ledger.tallies()[event.place].use.live;
        NotFreed& group = groups[{event.place, event.bytes, event.api, event.site}];
        group.first_ns = group.count == 0 ? event.at_ns : std::min(group.first_ns, event.at_ns);
        group.place = event.place;
        group.bytes = event.bytes;
        ++group.count;
        group.total_bytes += event.bytes;
        group.call = model.index.symbols.api(event.api).name;
        group.site = model.owners.at(event.site).name;
    });
    for (auto& [key, group] : groups) {
        result.not_freed.push_back(std::move(group));
    }
    std::sort(result.not_freed.begin(), result.not_freed.end(), [](const NotFreed& a, const NotFreed& b) {
        return std::tie(b.total_bytes, a.first_ns, a.call, a.site) <
               std::tie(a.total_bytes, b.first_ns, b.call, b.site);
    });
    for (auto& [place, tally] : ledger.tallies()) {
        tally.use.place = place;
        tally.use.bytes = step_series(std::move(tally.steps), timeline.begin_ns, timeline.end_ns);
        result.places.push_back(std::move(tally.use));
    }
    return result;
}

std::string place_name(MemoryPlace place) {
    switch (place) {
        case MemoryPlace::kDevice:
            return "device";
        case MemoryPlace::kPinned:
            return "pinned";
        case MemoryPlace::kRegistered:
            return "registered";
        case MemoryPlace::kManaged:
            return "managed";
        case MemoryPlace::kPhysical:
            return "physical";
    }
    return {};
}

}  // namespace gpuspy::analysis

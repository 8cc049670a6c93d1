// Launches and kernel records, matched one by one by correlation id, whichever comes first in the file.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/model/correlation_table.hpp"
#include "analysis/model/model.hpp"
#include "analysis/model/timeline_builder.hpp"

namespace gpuspy::analysis {

/// A launch (or another call with a correlation id), with its owner resolved.
struct Launch {
    enum class Kind : std::uint8_t {
        kKernel,
        kGraph,
        kMulti,  ///< One call, several kernels: any number of records but none belongs to it.
        kOther,  ///< No launch event, yet CUPTI reported a launch inside it: any number of records, or none.
    };
    Kind kind = Kind::kKernel;
    bool expects_records = true;  ///< Device times were being recorded.
    bool has_correlation = false;
    std::uint32_t owner = OwnerTable::kUnknown;
    std::uint32_t thread = 0;
    std::uint64_t correlation = 0;
    std::uint64_t stream = 0;
    std::uint64_t begin_ticks = 0;
    std::uint64_t function = 0;
    const GraphVersion* graph = nullptr;  ///< kGraph; nullptr if not known.
    std::uint32_t timeline_call = kNone;  ///< Timeline::calls, as it was added.
};

class LaunchMatcher {
public:
    LaunchMatcher(Model& model, TimelineBuilder& timeline) : model_(model), timeline_(timeline) {}

    void add_launch(const Launch& launch);
    /// A kernel's record; `timed`: its duration can be relied on; `activity`: Timeline::activities, as it was added.
    void add_record(const ActivityRecord& record, bool timed, std::uint32_t activity = kNone);
    /// What is left is unmatched, or has a cause of its own.
    void finish();

private:
    /// Launches of one thread on one stream: the device runs them in order, CUPTI returns them in order.
    struct Lane {
        std::uint64_t launches = 0, last_arrived = 0;
    };
    struct Pending {
        Launch launch;
        Lane* lane = nullptr;          ///< nullptr without a correlation id.
        std::uint64_t ordinal = 0;     ///< Among the launches of its thread on its stream.
        std::uint64_t arrived = 0;     ///< Records that came for it.
        std::uint64_t by_count = 0;    ///< Of these, those whose node is not in the graph's list.
        std::vector<bool> nodes_seen;  ///< By position in the graph's list.
        [[nodiscard]] std::uint64_t expected() const;
        [[nodiscard]] std::uint64_t most() const;
    };
    struct Record {
        std::uint32_t name;
        bool timed, in_graph;
        std::uint64_t duration_ns, graph_node;
        std::uint32_t activity;
    };

    /// A launch of one kernel, whose record has not come: what nearly all are, and all that is needed of it.
    struct Simple {
        Lane* lane;
        std::uint64_t ordinal;
        std::uint64_t begin_ticks, function;
        std::uint32_t owner, timeline_call;
        bool expects_records;
    };

    void note_arrived(Lane& lane, std::uint64_t ordinal, bool expected);
    bool take(Pending& pending, const Record& record);
    void count_record(const Record& record, std::uint32_t owner, bool fallback);
    void count_untimed(const Launch& launch);
    void close(const Pending& pending);
    void close(const Simple& simple, std::uint64_t correlation);
    void miss(std::uint32_t name, std::uint64_t count, bool not_returned);
    [[nodiscard]] std::uint32_t name_of(std::uint64_t function, std::uint64_t ticks) const;
    /// Owner of the captured launch that made a node; kNoOwner if it is not known.
    std::uint32_t node_owner(std::uint64_t launch_id);
    Lane& lane_of(const Launch& launch);

    static constexpr std::uint32_t kNoOwner = UINT32_MAX;

    Model& model_;
    TimelineBuilder& timeline_;
    CorrelationTable<Simple> simple_;
    // The others, by correlation; equal ones in the order they came, and behind one in simple_.
    std::unordered_multimap<std::uint64_t, Pending> launches_;
    std::unordered_multimap<std::uint64_t, Record> records_;  // those that came before their launch
    std::vector<Pending> uncorrelated_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, Lane> lanes_;
    std::pair<std::uint32_t, std::uint64_t> last_lane_key_;
    Lane* last_lane_ = nullptr;
    /// Where the statistics of a kernel and owner stand: by a few bits of both.
    struct KnownStats {
        std::uint32_t name = 0, owner = 0;
        KernelStats* stats = nullptr;
    };
    std::array<KnownStats, 1024> known_stats_;
    // Launches of graphs without device times: multiplied by their nodes at the end. By graph and owner of the launch.
    std::map<std::pair<const GraphVersion*, std::uint32_t>, std::uint64_t> untimed_graphs_;
    std::unordered_map<std::uint64_t, std::uint32_t> node_owners_;  // by launch id
};

}  // namespace gpuspy::analysis

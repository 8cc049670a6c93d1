// The second pass's events -> the timeline of the model, if it has one.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/model/call_forest.hpp"
#include "analysis/model/model.hpp"
#include "analysis/model/ranges.hpp"

namespace gpuspy::analysis {

class TimelineBuilder {
public:
    explicit TimelineBuilder(Model& model) : model_(model) {}

    /// Reads what is to be kept of a call's arguments: the note for its TreeNode, -1 for nothing.
    int note(const CallRecord& call);
    /// Returns the position of the tree's first call in Timeline::calls until finish(); kNone without a timeline.
    std::uint32_t add_tree(std::span<const TreeNode> tree, std::span<const CallContext> contexts);
    /// Returns its position in Timeline::activities until finish(); kNone without a timeline.
    std::uint32_t add_activity(const ActivityRecord& record, bool timed);
    /// A kernel's record has found its launch. `captured`: launch id of the captured call that made its node, 0 for none.
    void link(std::uint32_t activity, std::uint32_t call, std::uint64_t captured, std::uint32_t owner);
    void add_range(const RangeRecord& record);
    /// Links copies and sets with their calls, and sorts.
    void finish();

private:
    void add_memory(std::span<const TreeNode> tree, std::span<const CallContext> contexts, std::uint32_t first);
    [[nodiscard]] std::uint32_t call_of(const DeviceActivity& activity) const;
    void finish_ranges();

    Model& model_;
    RangePairer ranges_;
    MemoryEventReader memory_reader_;
    std::vector<MemoryEvent> noted_;                                                // by TreeNode::note
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_correlation_;  // Timeline::calls
    std::unordered_map<std::uint64_t, std::uint32_t> by_launch_id_;                 // Timeline::calls
    // Kernels of graphs and the launch ids of their nodes: the captured call may stand later in the file.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> captured_;
};

}  // namespace gpuspy::analysis

// The host's side of the second pass: calls and ranges.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/flops/work_recorder.hpp"
#include "analysis/model/call_forest.hpp"
#include "analysis/model/event_batch.hpp"
#include "analysis/model/model.hpp"
#include "analysis/model/timeline_builder.hpp"

namespace gpuspy::analysis {

/// Of the model it writes apis, threads, collectives, owners and works until finish(): a DevicePass may run beside it.
class CallPass : public Visitor {
public:
    CallPass(Model& model, TimelineBuilder& timeline, EventBatches& batches);

    void on_block(const BlockInfo& block) override;
    void on_call(const CallRecord& call) override;
    void on_range(const RangeRecord& record) override { timeline_.add_range(record); }
    void on_block_end() override;
    /// Hands over a last batch.
    void finish();
    /// Once no DevicePass runs any more: adds what both count.
    void add_counts();

private:
    void on_tree(std::span<const TreeNode> tree);
    void note_outermost(const TreeNode& node);
    Launch launch_of(std::span<const TreeNode> tree, std::size_t position);
    [[nodiscard]] bool untimed(const CallRecord& call) const;
    void note_launch(std::span<const TreeNode> tree, std::size_t position);
    void note_copy(const CallRecord& call, const ApiInfo& api);

    Model& model_;
    TimelineBuilder& timeline_;
    EventBatches& batches_;
    EventBatch batch_;
    WorkRecorder works_;
    CallForest forest_;
    LinearMap::Near host_clock_;
    LaunchCounts counts_;                        // Of calls alone.
    std::map<std::uint64_t, CopyStats> copies_;  // Those that no record will tell of.
    std::vector<CallContext> contexts_;
    std::size_t calls_ = 0;                    // Since the forest was last looked through.
    std::uint32_t first_of_tree_ = kNone;      // Timeline::calls: where the tree at hand begins.
    std::vector<std::int64_t> covered_until_;  // by thread
};

}  // namespace gpuspy::analysis

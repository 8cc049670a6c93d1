// The device's side of the second pass: device records, and the launches that they belong to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/model/event_batch.hpp"
#include "analysis/model/launch_matcher.hpp"
#include "analysis/model/model.hpp"
#include "analysis/model/timeline_builder.hpp"

namespace gpuspy::analysis {

/// Of the model it writes kernels, devices, copies, waiting, launches, unmatched, first_ns and last_ns.
class DevicePass : public Visitor {
public:
    DevicePass(Model& model, TimelineBuilder& timeline, EventBatches& batches);

    /// Takes the batch that the calls of the block gave.
    void on_block(const BlockInfo& block) override;
    void on_activity(const ActivityRecord& record) override;
    /// Takes the last batch.
    void finish();

private:
    /// Of a record, where the device's clock is related to the host's.
    struct HostTimes {
        std::int64_t begin_ns = 0, end_ns = 0;
    };

    void take_batch();
    void settle(const Horizon& horizon, std::uint64_t open_since_ticks);
    DeviceStats& device_of(const ActivityRecord& record);
    [[nodiscard]] bool has_usable_time(const ActivityRecord& record, HostTimes& host);

    Model& model_;
    TimelineBuilder& timeline_;
    EventBatches& batches_;
    EventBatch batch_;
    LaunchMatcher matcher_;
    LinearMap::Near device_clock_;
    const bool clock_is_known_;
    std::size_t segments_ = 0;          // That began so far.
    std::size_t added_ = 0;             // Intervals since the last settlement.
    std::size_t left_ = 0;              // What the next one has to look at again.
    std::uint64_t device_ordinal_ = 0;  // Of device_, which is the last record's.
    DeviceStats* device_ = nullptr;
    std::int64_t earliest_ns_ = 0, latest_ns_ = 0;
};

}  // namespace gpuspy::analysis

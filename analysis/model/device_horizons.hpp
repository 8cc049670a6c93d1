// The device's side of the first pass: how many records, and before when none begins any more. Beside a TraceIndexBuilder, which
// may run on another thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/model/trace_index.hpp"

namespace gpuspy::analysis {

class DeviceHorizons : public Visitor {
public:
    void on_block(const BlockInfo& block) override {
        if (block.index == 0 || by_segment_.empty()) {
            by_segment_.push_back(Horizon{}.device_ns);
        }
    }
    void on_activity(const ActivityRecord& record) override {
        ++records_;
        if (!record.has(abi::kDeviceUntimed) && record.start_ns != 0) {
            by_segment_.back() = std::min(by_segment_.back(), record.start_ns);
        }
    }
    /// Before TraceIndexBuilder::finish().
    void add_to(TraceIndex& index) const {
        index.events += records_;
        for (std::size_t segment = 0; segment < by_segment_.size(); ++segment) {
            Horizon& horizon = index.horizons[segment];
            horizon.device_ns = std::min(horizon.device_ns, by_segment_[segment]);
        }
    }

private:
    std::uint64_t records_ = 0;
    std::vector<std::uint64_t> by_segment_;
};

}  // namespace gpuspy::analysis

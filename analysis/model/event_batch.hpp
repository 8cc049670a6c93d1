// What the calls of a block say that the device records need: handed from CallPass to DevicePass, block by block, which may run on
// two threads.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "analysis/model/launch_matcher.hpp"

namespace gpuspy::analysis {

struct EventBatch {
    struct Wait {
        std::uint32_t thread, api;
        std::int64_t begin_ns, end_ns;
    };
    std::vector<Launch> launches;
    std::vector<Wait> waits;
    /// When the first call began that waits, before the block, for the call around it.
    std::uint64_t open_since_ticks = UINT64_MAX;
};

class EventBatches {
public:
    void put(EventBatch batch) {
        const std::lock_guard lock(mutex_);
        batches_.push_back(std::move(batch));
    }
    /// An empty one if there is none.
    EventBatch take() {
        const std::lock_guard lock(mutex_);
        if (batches_.empty()) {
            return {};
        }
        EventBatch batch = std::move(batches_.front());
        batches_.pop_front();
        return batch;
    }

private:
    std::mutex mutex_;
    std::deque<EventBatch> batches_;
};

}  // namespace gpuspy::analysis

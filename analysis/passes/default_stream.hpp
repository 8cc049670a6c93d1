// Work that waited for, or was waited for by, the legacy default stream: CUDA orders it with all blocking streams of its
// context.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/timeline.hpp"

namespace gpuspy::analysis {

/// Work that was ready to run, but began only when work of another stream, launched before it, had ended; one of the two
/// streams is the legacy default stream of the context. Ready: its call had returned and the work before it on its own stream
/// had ended. Waiting for an event, and a full GPU, look the same.
struct DefaultStreamWait {
    std::uint64_t device = 0;
    std::uint64_t waiting_stream = 0, ran_stream = 0;  ///< CUPTI's ids.
    bool default_waited = false;                       ///< Else it was waited for.
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0;  ///< While ready, and the other's work ran.
};

struct DefaultStream {
    std::uint64_t activities = 0;          ///< Of legacy default streams.
    std::vector<DefaultStreamWait> waits;  ///< Longest first.
};

DefaultStream default_stream(const Timeline& timeline);

}  // namespace gpuspy::analysis

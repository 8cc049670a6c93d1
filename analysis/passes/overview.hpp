// The whole timeline in a bounded number of blocks, for a picture of it: what is shorter than a pixel is drawn together with
// what begins in the same pixel. Nothing is left out of a lane's counts and times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

/// What a block is drawn as.
struct OverviewCategory {
    enum class Kind : std::uint8_t {
        kOwner,   ///< Kernels of an owner, and the host's calls into it where it is a library.
        kCopy,    ///< Copies and sets on the device, by direction.
        kWait,    ///< Host: blocking calls.
        kLaunch,  ///< Host: launches outside libraries.
        kOther,   ///< Host: any other call.
    };
    Kind kind = Kind::kOther;
    std::string name;
    friend auto operator<=>(const OverviewCategory&, const OverviewCategory&) = default;
};

struct OverviewName {
    std::string text;     ///< Kernels: mangled. Else the call's, or what a copy does.
    bool kernel = false;  ///< `text` is a kernel's.
    friend auto operator<=>(const OverviewName&, const OverviewName&) = default;
};

/// One activity or call, or several that began in the same pixel.
struct OverviewBlock {
    std::uint64_t begin_ns = 0;  ///< Since Timeline::begin_ns.
    std::uint64_t length_ns = 0;
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0;   ///< Sum of durations; below length_ns where there are gaps between them.
    std::uint32_t name = 0;      ///< Overview::names: of the longest.
    std::uint32_t category = 0;  ///< Overview::categories: the one with most time.
};

/// What ran on a stream, or the outermost calls of a thread. What overlaps on a stream stands in rows of its own.
struct OverviewLane {
    bool host = false;
    std::uint64_t device = 0, stream = 0;  ///< Of a stream, by CUPTI's id.
    std::uint32_t tid = 0;                 ///< Of a thread.
    std::string thread_name;
    std::uint32_t row = 0;  ///< 0, or how many of the same stream or thread are drawn above it.
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0;
    std::vector<OverviewBlock> blocks;  ///< By begin.
};

struct Overview {
    std::uint64_t wall_ns = 0;
    std::uint64_t pixel_ns = 0;  ///< 0: each block is one activity or call.
    std::uint64_t unplaced = 0;  ///< Activities with no time on the host's clock: in no lane.
    std::vector<OverviewCategory> categories;
    std::vector<OverviewName> names;
    std::vector<OverviewLane> lanes;  ///< Streams by device and id, then threads, the one with most API time first.
};

inline constexpr std::size_t kOverviewBlocks = 20'000;

/// At most `max_blocks` blocks, or one for each lane where there are more lanes. O(n log n).
Overview overview(const Model& model, const Timeline& timeline, std::size_t max_blocks = kOverviewBlocks);

}  // namespace gpuspy::analysis

// Waits for the device: by call and by the shared object that called, thread by thread, and the longest one by one; what the
// GPU did meanwhile. Adds up to the summary's synchronisation time (passes/sync.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

/// What ran longest during a wait, or during the waits of a site together: a moment counts once for each name.
struct RanMeanwhile {
    std::string mangled;        ///< A kernel's name; of copies and sets empty.
    std::string direction;      ///< Of copies and sets.
    std::uint64_t time_ns = 0;  ///< During the waits alone.
};

/// What the devices did during waits. Absent where the device's clock is not known.
struct GpuMeanwhile {
    std::uint64_t busy_ns = 0;            ///< Some device ran something: the thread waited for work.
    double busy_share = 0;                ///< Of the waits' time.
    std::optional<RanMeanwhile> longest;  ///< Absent if nothing ran.
};

enum class WaitKind : std::uint8_t {
    kSynchronise,  ///< Asked to wait.
    kCopy,         ///< A blocking copy.
    kAllocate,
    kFree,
};

struct SyncSite {
    std::string call, site;
    WaitKind kind = WaitKind::kSynchronise;
    std::uint64_t count = 0;    ///< Outermost blocking calls.
    std::uint64_t time_ns = 0;  ///< A union for each thread, summed.
    std::uint64_t max_ns = 0;
    double share_of_wall = 0;
    std::optional<GpuMeanwhile> gpu;
    /// How many returned after all that ran on the devices when they were called had ended, and something did.
    std::optional<std::uint64_t> outlasted;
};

struct SyncThreadUse {
    std::uint32_t tid = 0;
    std::string name;
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0;  ///< Union.
    double share_of_wall = 0;
    std::optional<std::uint64_t> gpu_busy_ns;
};

struct SyncWait {
    std::int64_t begin_ns = 0;  ///< In the clock of the calls.
    std::uint64_t duration_ns = 0;
    std::uint32_t tid = 0;
    std::string call, site;
    std::optional<GpuMeanwhile> gpu;
};

/// Asynchronous copies of pageable memory: the thread copies by way of pinned memory of CUDA's own. They are no
/// synchronisation by name and not in its time.
struct PageableCopies {
    std::string call, site, direction;
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0;               ///< Of the calls.
    std::optional<std::uint64_t> waited;     ///< How many returned after their copy had ended on the device.
    std::optional<std::uint64_t> waited_ns;  ///< Time of these calls.
};

struct SyncSites {
    std::vector<SyncSite> sites;           ///< Longest first.
    std::vector<SyncThreadUse> threads;    ///< Those that waited, longest first.
    std::vector<SyncWait> waits;           ///< Longest first.
    std::vector<PageableCopies> pageable;  ///< Longest first.
};

SyncSites sync_sites(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis

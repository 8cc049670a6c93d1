// Empties the rings of a dead process into its trace. For gpuspy-run, gpuspy-report and the next process that records.
//
// Whatever a ring file says is distrusted (ring_file.hpp). Doing it again after a salvager that died on the way gives
// the same trace: the cut takes away what that one had appended.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/ring_layout.hpp"

namespace gpuspy::sink {

inline constexpr char kRingDirectory[] = "/dev/shm";
/// Behind the number of them, for messages.
inline constexpr char kRemovedUnreadText[] =
    "bytes of rings that dead processes of an older gpuspy left in /dev/shm were removed unread";

enum class SalvageReason : std::uint8_t {
    kDone,
    kOwnerAlive,     ///< Its lock is held, or the process still maps it.
    kBeingTaken,     ///< Another process has been emptying it for two seconds.
    kEnded,          ///< The owner had flushed everything; only the file was left.
    kNotARing,       ///< There is no such ring file, or it is not ours, or not sound.
    kOtherVersion,   ///< A layout that this version does not know.
    kRemovedUnread,  ///< A layout older than this version knows, in use by nobody: the file was removed.
    kFiltered,       ///< Of another run, recording or boot than asked for.
    kNoTrace,        ///< Its trace is gone, or there is none of the same recording (nonce).
    kTraceBusy,      ///< Another process holds the trace.
    kFailed,         ///< An errno value is in `error`.
};

struct SalvageResult {
    SalvageReason reason = SalvageReason::kFailed;
    int error = 0;
    std::uint64_t events = 0;         ///< Put into the trace.
    std::uint64_t cut_bytes = 0;      ///< Taken off the end of the trace: a torn block, mostly.
    std::uint64_t removed_bytes = 0;  ///< Of kRemovedUnread.
    std::uint32_t corrupt_rings = 0;  ///< Rings whose content made no sense before its end.
    std::uint64_t nonce = 0;
    std::uint64_t run_id = 0;
    std::uint32_t pid = 0;
    char trace_path[abi::kPathBytes] = {};
};

struct SalvageFilter {
    std::uint64_t run_id = 0;          ///< Not 0: only rings of this run.
    std::uint64_t nonce = 0;           ///< Not 0: only the ring of this recording.
    const char* boot_id = nullptr;     ///< Only of this boot; nullptr: not checked.
    const char* trace_path = nullptr;  ///< Into this file, if it is the recording's; nullptr: where the ring says.
    /// kRemovedUnread is allowed: nobody comes for a layout that a later version has replaced. For programs of ours that say
    /// so; not with another filter.
    bool removes_older = false;
};

/// Where a caller must go on. Looked at between two ring files: one that was begun is finished.
struct SalvageLimit {
    std::uint32_t rings =
        ~0U;  ///< Removed ones alone: one that cannot be shall not keep a caller from those behind it.
    std::uint64_t ns = ~std::uint64_t{0};
};

/// Salvages one ring file. After kDone, kEnded, kNoTrace and kRemovedUnread it is unlinked.
SalvageResult salvage_ring(const char* ring_path, const SalvageFilter& filter) noexcept;

/// Salvages the ring of this trace, if its owner died and left one. kNotARing: there is nothing to do.
SalvageResult salvage_for_trace(const char* trace_path, const char* ring_directory) noexcept;

/// Salvages every ring file of ours in `directory`; `report` is told of each but kFiltered and kNotARing. Returns how
/// many were emptied into a trace. What is beyond the limit is left for the next caller.
std::uint32_t salvage_directory(const char* directory, const SalvageFilter& filter,
                                void (*report)(void* self, const SalvageResult&), void* self,
                                const SalvageLimit& limit = {});

/// Appends kEnd kWaitStatus, in a segment of its own, to a trace whose owner is gone. `pid` is the process that was
/// waited for and `status` as wait(2) gives it. 0 or an errno value (EAGAIN: another process holds the trace).
int append_wait_status(const char* trace_path, std::uint32_t pid, int status) noexcept;
/// Appends kEnd kSnapshot likewise, to a copy. 0 or an errno value.
int append_snapshot_end(const char* copy_path) noexcept;

}  // namespace gpuspy::sink

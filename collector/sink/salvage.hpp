// Empties the rings of a dead process into its trace. For gpuspy-run, gpuspy-report and the next process that records.
//
// Everything in a ring file is distrusted: it may be cut, corrupted, or made by someone else. It is read with pread
// into memory of our own, never mapped, so a file that shrinks or changes meanwhile can do no harm.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/ring_layout.hpp"

namespace gpuspy::sink {

enum class SalvageReason : std::uint8_t {
    kDone,
    kOwnerAlive,    ///< Its lock is held, or the process still maps it.
    kEnded,         ///< The owner had flushed everything; only the file was left.
    kNotARing,      ///< Not ours, not a regular file, or no sound header.
    kOtherVersion,  ///< A layout that this version does not know.
    kOtherBoot,     ///< From before a reboot or from another machine.
    kNoTrace,       ///< Its trace is gone, or not a trace of the same recording (nonce).
    kTraceBusy,     ///< Another process holds the trace.
    kFailed,        ///< An errno value is in `error`.
};

struct SalvageResult {
    SalvageReason reason = SalvageReason::kFailed;
    int error = 0;
    std::uint64_t events = 0;         ///< Put into the trace.
    std::uint64_t cut_bytes = 0;      ///< Of a torn block at the end of the trace.
    std::uint64_t corrupt_rings = 0;  ///< Rings whose content ended before their head.
    std::uint64_t nonce = 0;
    std::uint64_t run_id = 0;
    std::uint32_t pid = 0;
    char trace_path[abi::kPathBytes] = {};
};

struct SalvageFilter {
    std::uint64_t run_id = 0;       ///< Not 0: only rings of this run.
    std::uint64_t nonce = 0;        ///< Not 0: only the ring of this recording.
    const char* boot_id = nullptr;  ///< Of this boot; nullptr: not checked.
};

/// Salvages one ring file. kDone, kEnded and kNoTrace also unlink it.
SalvageResult salvage_ring(const char* ring_path, const SalvageFilter& filter) noexcept;

/// Salvages every ring file of ours in `directory`; `report` is told of each that the filter takes. Returns how many
/// rings were emptied into a trace.
std::uint32_t salvage_directory(const char* directory, const SalvageFilter& filter,
                                void (*report)(void* self, const SalvageResult&) noexcept, void* self) noexcept;

/// Appends kEnd kWaitStatus to a trace whose writer is gone, in a segment of its own. `status` as wait(2) gives it. 0
/// or errno.
int append_wait_status(const char* trace_path, int status) noexcept;

}  // namespace gpuspy::sink

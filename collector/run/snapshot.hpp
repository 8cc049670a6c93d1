// `gpuspy-run snapshot PID [-o FILE]`: a copy of the trace of a process that goes on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace gpuspy::run {

struct SnapshotOptions {
    pid_t pid = 0;
    std::string output;  ///< As typed; "": not given.
};

struct SnapshotResult {
    std::string problem;  ///< "" or one line that says why there is none.
    std::string path;     ///< Of the copy.
    std::uint64_t bytes = 0, blocks = 0;
    double seconds = 0;  ///< Between its first and its last block.
    std::string trace;   ///< What was copied.
};

/// Whether the first word is "snapshot": a program of that name is run by `gpuspy-run -- snapshot`.
bool is_snapshot(int argc, const char* const* argv);

/// `argv[0]` is "snapshot". True: `options` hold. False: all is said; end with `status`.
bool read_snapshot_options(int argc, const char* const* argv, SnapshotOptions* options, int* status);

/// Asks the process to write what it has, waits for it (2 s at most), and copies its trace to `output` (absolute). What stands
/// there is treated as a recording treats it.
SnapshotResult take_snapshot(const std::string& ring_directory, pid_t pid, const std::string& output);

/// The command. Returns the exit status.
int snapshot(const SnapshotOptions& options);

}  // namespace gpuspy::run

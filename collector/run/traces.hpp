// The traces that a run left, and what is done with them once the command has ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gpuspy::run {

/// Traces of the run beside `output` (which is first if it is one of them, the others sorted).
std::vector<std::string> find_traces(const std::string& output, std::uint64_t run_id);

/// "wrote trace.bin (12.3 KiB)": the first few by name, as seen from `folder`, and how many more there are.
std::string describe_traces(const std::vector<std::string>& traces, const std::string& folder);

/// Empties the rings of the run's dead processes into their traces. Returns one line for each that could not be
/// emptied.
std::vector<std::string> salvage_run(const std::string& ring_directory, std::uint64_t run_id);

/// Writes how the command ended into each trace whose process has ended. Returns one line for each that failed.
std::vector<std::string> note_wait_status(const std::vector<std::string>& traces, pid_t pid, int wait_status);

}  // namespace gpuspy::run

// Which file a process writes, and opening it without a race with the other processes of a run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuspy::sink {

struct OutputRequest {
    const char* path = nullptr;  ///< Absolute ("trace.bin" in the directory at load, or GPUSPY_OUTPUT made absolute).
    std::uint32_t pid = 0;
    std::uint32_t pgid = 0;
    std::uint64_t run_id = 0;  ///< 0: none.
};

struct Output {
    int fd = -1;  ///< Open for writing and locked (regular files); a pipe or device as it is.
    bool is_regular = false;
    char path[1024] = {};
    char message[1200] = {};  ///< One line when it failed: what, which file, what to do.
};

/// Opens the trace file by the rules of docs/architecture.md: `path` if it is free; `<stem>.<pid><extension>` if it is locked,
/// or its header names our run or our process group; otherwise the file there is an older recording and moves to
/// `path`.old, .old.1, .old.2 ... A file that is not a trace is never moved or written: an error. 0 or an errno value.
int open_output(const OutputRequest& request, Output* output) noexcept;

}  // namespace gpuspy::sink

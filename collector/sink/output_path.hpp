// Which file a process writes, and opening it without a race with the other processes of a run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuspy::sink {

struct OutputRequest {
    const char* path = nullptr;  ///< Absolute ("trace.bin" in the directory at load, or GPUSPY_OUTPUT made absolute).
    std::uint32_t pid = 0;
    std::uint64_t run_id = 0;                 ///< Of gpuspy-run; 0: none.
    const char* ring_directory = "/dev/shm";  ///< Where a dead owner of an older trace may have left its rings.
    /// What a new file begins with, so that it is a trace from the moment it is there; nullptr: nothing.
    const std::uint8_t* header = nullptr;
    std::size_t header_bytes = 0;
};

struct Output {
    int fd = -1;  ///< Open for writing and locked (regular files); a pipe or device as it is.
    bool is_regular = false;
    bool has_header = false;  ///< OutputRequest::header is in it; else the caller writes it.
    char path[1024] = {};
    char message[1200] = {};  ///< One line when it failed: what, which file, what to do.
};

/// Opens the trace file by the rules of docs/architecture.md:
///  - `path` if there is no such file, or it is empty and nobody holds it;
///  - `<stem>.<pid><extension>`, then `<stem>.<pid>.1<extension>` ..., if `path` is locked or is of our run. Of our
///  run: the same
///    run id; where either has none, the same process group, since its leader started;
///  - otherwise the file is an older recording: the rings that its owner may have left are emptied into it, and it
///  moves to
///    `path`.old, or the first free `path`.old.1, .old.2 ...
/// A new file appears at its path already locked, and an old one is moved only under its lock, so that processes that
/// start together never take each other's. What is not a trace is never moved or written: an error. A pipe or a
/// character device is opened as it is, without blocking. 0 or an errno value, with a message.
int open_output(const OutputRequest& request, Output* output) noexcept;

/// A new file at `path`, which appears there only once it is locked and has the request's header. 0 or an errno value; EEXIST: there
/// is one, whatever it is.
int create_locked(const char* path, const OutputRequest& request, int* created) noexcept;

}  // namespace gpuspy::sink

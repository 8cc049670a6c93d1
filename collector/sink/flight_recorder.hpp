// Keeps the last part of a recording within a fixed size on disk (GPUSPY_LAST).
//
// Beside the trace grows its successor, `<trace>.next` (or, where another's file stands there, `<trace>.next.1` ...
// `.9`): a trace of the same recording that begins later. Every block goes into
// both; once the successor alone holds what is asked for, or both together reach the limit, it is renamed to the trace's path
// and the next successor begins. So at the path there is, at every moment and whatever kills the process, one whole trace,
// which only ever grows, of at least what was asked for; a reader that had the older one open goes on reading that. What is on
// disk is never read again, and nothing is moved in a file.
//
// A successor is left behind by a process that was killed: whoever salvages the trace removes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/sink/file_header.hpp"
#include "collector/sink/kept_limit.hpp"
#include "collector/sink/trace_writer.hpp"

namespace gpuspy::sink {

inline constexpr std::size_t kSuccessorPathBytes = 1024 + 8;

/// Whether a successor of the trace may have this path.
bool is_successor_path(const char* trace_path, const char* path) noexcept;

/// Removes the successor of a trace whose writer is gone, if there is one that nobody holds. Any other file, an empty one too, is left
/// alone.
void remove_successor(const char* trace_path, const TraceIdentity& trace) noexcept;

class FlightRecorder {
public:
    constexpr FlightRecorder() noexcept = default;
    FlightRecorder(const FlightRecorder&) = delete;
    FlightRecorder& operator=(const FlightRecorder&) = delete;

    /// `trace` is a regular file with its header, the `count` bytes of encode_file_header(). 0 or an errno value.
    int init(const KeptLimit& limit, TraceWriter& trace, const std::uint8_t* header, std::size_t count,
             std::uint64_t now_ns) noexcept;
    bool is_on() const noexcept { return trace_ != nullptr; }
    const KeptLimit& limit() const noexcept { return limit_; }
    /// FileHeader::exchange of the trace.
    std::uint64_t exchange() const noexcept { return exchange_; }
    /// Blocks of more payload than this are to be ended: both files grow by a block at once.
    std::size_t block_bytes() const noexcept { return block_bytes_; }

    /// Whether it is time for a successor; its segment must be the next one.
    bool wants_successor(std::uint64_t now_ns) const noexcept;
    /// Makes the file, with its header. What it must say first goes to append_to_successor(). 0 or an errno value.
    int begin_successor(std::uint64_t now_ns) noexcept;
    bool has_successor() const noexcept { return successor_.is_usable(); }
    int append_to_successor(const Frame& frame) noexcept;
    /// What it says first is too much, or could not be written: it is removed, and tried again later.
    void abandon_successor(int error) noexcept;

    /// To both files, if they do not become too large by it. 0 or an errno value, as TraceWriter::append().
    int append(const Frame& frame) noexcept;

    /// Whether the successor shall take the trace's place: after a commit, and another commit must follow.
    bool wants_exchange(std::uint64_t now_ns) const noexcept;
    /// Does so. False: it could not be renamed; the trace goes on.
    bool make_exchange() noexcept;

    /// The end of the recording: the trace holds all that the successor does.
    void finish() noexcept;
    /// In a forked child: closes, and leaves the parent's files alone.
    void forget_after_fork() noexcept;

private:
    std::uint64_t bytes_on_disk() const noexcept { return trace_->file_bytes() + successor_.file_bytes(); }

    KeptLimit limit_;
    TraceWriter* trace_ = nullptr;
    TraceWriter successor_;
    std::uint8_t* header_ = nullptr;
    std::size_t header_bytes_ = 0;
    std::size_t block_bytes_ = 0;
    std::uint64_t exchange_ = 0;
    std::uint64_t trace_begin_ns_ = 0;  ///< CLOCK_MONOTONIC.
    std::uint64_t successor_begin_ns_ = 0;
    std::uint64_t retry_ns_ = 0;  ///< No successor before then: the last one failed.
    int error_ = 0;               ///< With which it failed.
    char successor_path_[kSuccessorPathBytes] = {};
};

}  // namespace gpuspy::sink

// Appends blocks to a trace file, and fails without harm to the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/ring/owned_fd.hpp"
#include "collector/sink/columns.hpp"
#include "collector/sink/encoder.hpp"

namespace gpuspy::sink {

/// BlockHeader and stored payload, as they go into a file. Valid until the writer builds the next one.
struct Frame {
    const std::uint8_t* bytes = nullptr;
    std::size_t count = 0;
    std::uint32_t raw_bytes = 0;
};

enum class WriteFault : std::uint8_t {
    kWrite,      ///< What was to be written is lost.
    kFindAgain,  ///< Likewise: the host closed our descriptor and the file is no longer at its path.
    kNextPart,  ///< A flight recorder cannot begin its next part. Nothing is lost before the limit on the size is reached.
};

class TraceWriter {
public:
    /// Told once, at the first failure, with an errno value.
    using ErrorCallback = void (*)(void* self, int error, WriteFault fault) noexcept;

    constexpr TraceWriter() noexcept = default;
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    /// Maps the compressor's workspace for blocks of up to `max_raw_bytes`. 0 or an errno value.
    int init(std::size_t max_raw_bytes, ErrorCallback callback = nullptr, void* callback_self = nullptr) noexcept;

    /// Makes a new file: 0600, O_EXCL, O_NOFOLLOW, and locks it. 0 or an errno value.
    int create(const char* path) noexcept;
    /// Takes over an open descriptor: a locked file from open_output(), a pipe, a device. `path` finds the file again
    /// when the host closes the descriptor; "" if there is none. `append_at` is where the next byte goes; regular files
    /// only.
    int adopt(int fd, const char* path, std::uint64_t append_at = 0) noexcept;

    /// The file has its header already, of so many bytes.
    void has_header(std::size_t count) noexcept { file_bytes_ = count; }
    /// The bytes of encode_file_header(). 0 or an errno value, of which the callback is not told.
    int write_header(const std::uint8_t* bytes, std::size_t count) noexcept;
    /// Over the first bytes of the header that is there, in place; regular files only.
    void replace_header(const std::uint8_t* bytes, std::size_t count) noexcept;

    /// Compresses the payload (taken apart into columns where it is long enough to gain by it; zstd level 1; stored when that is not smaller).
    Frame build(const Block& block, std::uint64_t ticks) noexcept;
    /// Appends it in one write. On failure the file is cut back to its last whole block where that is possible, the raw
    /// bytes are counted, and the caller must begin a new segment. 0 or an errno value. Never raises SIGXFSZ or SIGPIPE.
    int append(const Frame& frame) noexcept;
    int append_block(const Block& block, std::uint64_t ticks) noexcept { return append(build(block, ticks)); }

    /// For a second file that gets the frames of another writer: without a compressor. It appears with its header in it, so that what
    /// stands there without one is another's. 0 or an errno value.
    int create_successor(const char* path, const std::uint8_t* header, std::size_t header_bytes) noexcept;
    /// Goes on in the file of `successor`, which has been renamed to this one's path; that one is without a file then. The
    /// file so far is closed.
    void take_file_of(TraceWriter& successor) noexcept;
    /// What was to be written and will not be, for a cause of the caller's.
    int refuse(int error, std::uint64_t raw_bytes) noexcept { return fail(error, WriteFault::kNextPart, raw_bytes); }
    /// Tells the callback, if nothing was told before.
    void complain(int error, WriteFault fault) noexcept;

    /// Size of the file up to its last whole block.
    std::uint64_t file_bytes() const noexcept { return file_bytes_; }
    /// Payload bytes that were not written, ever.
    std::uint64_t failed_bytes() const noexcept { return failed_bytes_; }
    /// False once no later write can succeed (a closed pipe, a file cut short that could not be mended).
    bool is_usable() const noexcept { return fd_ >= 0 && !broken_; }
    bool is_regular() const noexcept { return is_regular_; }
    int fd() const noexcept { return fd_; }
    const char* path() const noexcept { return path_; }
    /// Whether another file than ours stands at our path; none may.
    bool is_path_taken() const noexcept;

    void close() noexcept;
    /// In a forked child: closes the descriptor (POSIX locks are not inherited, so the parent's stays) and forgets.
    void forget_after_fork() noexcept;

private:
    std::size_t compress(const Block& block, std::uint8_t* stored, std::size_t room, std::uint32_t& flags) noexcept;
    int write_all(const std::uint8_t* bytes, std::size_t count) noexcept;
    int write_regular(const std::uint8_t* bytes, std::size_t count) noexcept;
    int write_stream(const std::uint8_t* bytes, std::size_t count) noexcept;
    int find_again() noexcept;
    int fail(int error, WriteFault fault, std::uint64_t raw_bytes) noexcept;

    int fd_ = -1;
    bool is_regular_ = false;
    bool broken_ = false;
    bool reported_ = false;
    ring::FileIdentity identity_{};
    std::uint64_t file_bytes_ = 0;
    std::uint64_t failed_bytes_ = 0;
    ErrorCallback callback_ = nullptr;
    void* callback_self_ = nullptr;
    void* workspace_ = nullptr;
    std::size_t workspace_bytes_ = 0;
    void* compressor_ = nullptr;  ///< ZSTD_CCtx inside the workspace.
    std::uint8_t* columns_ = nullptr;
    ColumnScratch* column_scratch_ = nullptr;
    std::uint8_t* frame_ = nullptr;  ///< BlockHeader and stored payload.
    std::size_t frame_capacity_ = 0;
    char path_[1024] = {};
};

}  // namespace gpuspy::sink

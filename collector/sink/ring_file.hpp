// A ring file that a dead process left, read with distrust.
//
// It is read with pread into memory of our own and never mapped: a file that shrinks or changes meanwhile can do no
// harm.
#pragma once

#include <cstdint>

#include "collector/abi/ring_layout.hpp"
#include "collector/ring/owned_fd.hpp"

namespace gpuspy::sink {

enum class RingFileState : std::uint8_t {
    kDead,          ///< Nobody holds it: the content may be taken.
    kOwnerAlive,    ///< Its lock is held, or the process still maps it.
    kBeingTaken,    ///< Another process is emptying it; header() is as that one found it, unchecked.
    kNotARing,      ///< Not there, not ours, not a regular file, or no sound header.
    kOtherVersion,  ///< A layout that this version does not know. Every one so far begins as ours does, up to the pid.
};

class RingFile {
public:
    RingFile() noexcept = default;
    ~RingFile();
    RingFile(const RingFile&) = delete;
    RingFile& operator=(const RingFile&) = delete;

    /// Opens, locks and checks. Not for a process that has this ring itself: closing the file would give its lock back.
    RingFileState open(const char* path) noexcept;

    /// The checked header: sizes agree with each other and with the file, texts end.
    const abi::MapHeader& header() const noexcept { return *reinterpret_cast<const abi::MapHeader*>(header_bytes_); }
    /// Rings that the header tells of and the file holds.
    std::uint32_t ring_count() const noexcept { return ring_count_; }

    /// The API table: header().api_count entries, or nullptr without memory.
    const abi::ApiEntry* read_apis() noexcept;
    /// A ring with its data. Valid until the next call; nullptr without memory or when it cannot be read.
    const abi::RingHeader* read_ring(std::uint32_t index) noexcept;

    /// After kNotARing: a file that its maker left before it was a ring: by its name ours, of a process that is gone, and empty
    /// where a ring has its header.
    bool is_left_unfinished() const noexcept { return is_blank_ && is_maker_gone(); }
    /// After kOtherVersion: an older layout, by its name and header ours, and no process has the file open or maps it, in
    /// whatever namespace of pids.
    bool is_unused_older() const noexcept;
    std::uint64_t file_bytes() const noexcept { return file_bytes_; }
    void unlink() noexcept;

private:
    bool header_is_sound() const noexcept;
    bool is_mapped_by_owner() const noexcept;
    bool is_held_by_owner() noexcept;
    bool is_maker_gone() const noexcept;

    int fd_ = -1;
    const char* path_ = nullptr;
    std::uint64_t file_bytes_ = 0;
    std::uint32_t ring_count_ = 0;
    bool is_blank_ = false;  ///< It was locked, and has no header at all.
    abi::ApiEntry* apis_ = nullptr;
    std::uint8_t* ring_ = nullptr;
    ring::FileIdentity identity_{};
    alignas(abi::MapHeader) std::uint8_t header_bytes_[sizeof(abi::MapHeader)] = {};
};

}  // namespace gpuspy::sink

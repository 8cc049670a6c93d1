// The rings of a process and the mapping that holds them (abi/ring_layout.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/abi/ring_layout.hpp"
#include "collector/ring/mutex.hpp"
#include "collector/ring/owned_fd.hpp"

namespace gpuspy::ring {

/// Where a recording has its rings if the directory takes them. False: it does not fit.
bool build_ring_path(const char* directory, std::uint32_t pid, std::uint64_t nonce, char* buffer,
                     std::size_t capacity) noexcept;

struct RingSetConfig {
    const char* directory = "/dev/shm";     ///< A tmpfs; nullptr: private memory at once.
    std::uint64_t ring_bytes = 256U << 10;  ///< A power of two, 4 KiB at least.
    std::uint64_t nonce = 0;
    std::uint64_t run_id = 0;
    std::uint32_t pid = 0;
    const char* trace_path = "";  ///< Absolute; cut at kPathBytes - 1.
    const char* boot_id = "";
    const abi::ApiEntry* apis = nullptr;
    std::uint32_t api_count = 0;
    /// Whether a thread of this process has ended: rings of those that said nothing are taken back. nullptr: none has.
    bool (*has_thread_ended)(std::uint32_t tid) noexcept = nullptr;
};

/// Thread safe where said; constant-initialised; never destroyed (hooks may run until the last instruction).
class RingSet {
public:
    constexpr RingSet() noexcept = default;
    RingSet(const RingSet&) = delete;
    RingSet& operator=(const RingSet&) = delete;

    /// Makes the mapping: in a file that outlives the process if the directory has room (our whole file takes at most
    /// an eighth of what is free there now), else in private memory of the same layout. 0 or an errno value.
    int create(const RingSetConfig& config) noexcept;

    /// Whether a salvager could find the rings after our death.
    bool is_shared() const noexcept { return shared_; }
    /// Why not, as an errno value (0 when shared).
    int share_error() const noexcept { return share_error_; }
    abi::MapHeader* header() const noexcept { return header_; }
    const abi::ApiEntry* apis() const noexcept;
    std::uint64_t ring_bytes() const noexcept { return header_->ring_bytes; }

    /// Rings ever made. Pairs: acquire of the maker's release, so ring(i) below it may be used.
    std::uint32_t ring_count() const noexcept { return ring_count_.load(std::memory_order_acquire); }
    /// Index below ring_count().
    abi::RingHeader* ring(std::uint32_t index) const noexcept { return rings_[index]; }

    /// A ring for the calling thread, its ThreadEvent written: one that another thread left empty, else a new one.
    /// Rings that no longer fit into the share of the tmpfs lie in private memory. nullptr: none left, no memory, or
    /// one other thread kept the lock for longer than 2 s. A thousand threads that claim at once wait for each other, as long as
    /// they get on. For any thread, and for a signal handler: since it waits with a limit, a handler that interrupts a claim on
    /// its own thread gets nullptr. Makes system calls.
    abi::RingHeader* claim(std::uint32_t tid, std::uint64_t ticks) noexcept;

    /// The thread has ended: its ring may be given to another once it is drained.
    static void release(abi::RingHeader* ring) noexcept;

    /// Clean end: everything is in the trace. Rings stay mapped, since hooks may still be on their way out.
    void mark_ended_and_unlink() noexcept;

    /// In a forked child: leaves the parent's mapping and file alone, and is as if just constructed.
    void forget_after_fork() noexcept;

    /// Path of the ring file; "" in private memory.
    const char* path() const noexcept { return path_; }

private:
    int create_shared(const RingSetConfig& config, std::uint64_t stride) noexcept;
    void fill_header(const RingSetConfig& config, std::uint64_t stride) noexcept;
    abi::RingHeader* map_ring(std::uint32_t index) noexcept;
    abi::RingHeader* find_free() noexcept;
    void take_back() noexcept;
    abi::RingHeader* grow() noexcept;

    abi::MapHeader* header_ = nullptr;
    abi::RingHeader** rings_ = nullptr;  ///< kMaxRings pointers, in a mapping of their own.
    std::uint64_t prefix_bytes_ = 0;     ///< Header and API table, in whole pages.
    std::atomic<std::uint32_t> ring_count_{0};
    std::uint32_t shared_limit_ = 0;  ///< Rings from this index on are private.
    bool (*has_thread_ended_)(std::uint32_t tid) noexcept = nullptr;
    std::uint32_t next_asked_ = 0;  ///< Ring whose thread is asked for next.
    Mutex claiming_;
    int fd_ = -1;
    FileIdentity identity_{};
    int share_error_ = 0;
    bool shared_ = false;
    char path_[abi::kPathBytes] = {};
};

}  // namespace gpuspy::ring

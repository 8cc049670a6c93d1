// The shared mapping that holds the rings and outlives the process: /dev/shm/gpuspy.<pid>.<nonce in hex>.
//
//   MapHeader | API table | ring 0 header, data | ring 1 header, data | ...
//
// One writer per ring (its thread), one reader (the drain thread; after the owner's death a salvager that holds the lock).
// The file is allocated in steps (posix_fallocate), so a full tmpfs fails when a ring is made and not as SIGBUS later.
//
// Commit protocol (so that nothing is lost or doubled whenever the owner dies). The drain thread appends one block to the
// trace, then stores the new file size and every ring's new position in the slot that is not current, then stores
// commit_seq (release), and only then moves each ring's tail, which gives the space back to its writer. A salvager reads
// commit_seq, cuts the trace to that slot's size (a torn block was being written), and goes on from that slot's positions.
//
// A flight recorder (sink/flight_recorder.hpp) exchanges the trace for a shorter one now and then, right after a commit, and
// commits again before it appends anything. So a salvager that finds another exchange number in the trace than in the slot
// (FileHeader::exchange) cuts nothing off.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpuspy::abi {

inline constexpr std::uint64_t kMapMagic = 0x31474e5259505347ULL;  // "GSPYRNG1" in memory order
inline constexpr std::uint32_t kRingLayoutVersion = 4;
inline constexpr std::uint32_t kMaxRings = 4096;
inline constexpr std::uint32_t kPathBytes = 1024;

/// States of the owner, for a salvager.
enum class OwnerState : std::uint32_t { kRunning = 0, kEnded = 1 };

/// One API of the hook table; `name` and `library` are zero-terminated.
struct ApiEntry {
    char name[72];
    char library[16];         ///< "driver", "runtime", "cudnn", "cublas", "cublaslt" ...
    std::uint8_t level;       ///< ApiLevel
    std::uint8_t api_class;   ///< ApiClass
    std::uint8_t attributes;  ///< ApiAttributes
    std::uint8_t reserved[5];
    /// Which arguments are kept, in the order of their words: "name:place" and a type, with spaces between. The place is the
    /// index among the integer-class words of the call (0 to 5 in registers, then the stack). Types: i, u 32 bits, signed
    /// and not; l, w 64 bits; p a pointer or a handle; * what the argument points to, after success; @N and i or l: an array of as many elements
    /// as the word N says; #N: the first bytes, at most 16, of a buffer of as many bytes as the word N says; BN,M: an
    /// array of as many elements as N says, of the type (cudnnBackendAttributeType_t) that M says (at most 27); xQxR@N and i or l:
    /// the sum over N elements of place[i] * Q[i] * R[i] (-1: none); s: a stream, no word (StreamPart); nor are !A-B: calls with a
    /// value from A to B are not recorded; =A: no others are. Of other arrays at most 16 elements are kept.
    char fields[96];
};
static_assert(sizeof(ApiEntry) == 192);

struct MapHeader {
    std::uint64_t magic;
    std::uint32_t layout_version;
    std::uint32_t header_bytes;  ///< Offset of the API table.
    std::uint64_t nonce;         ///< Also in the trace's header: which ring belongs to which trace.
    std::uint32_t pid;
    std::uint32_t api_count;
    std::uint64_t ring_bytes;   ///< Data bytes of each ring, a power of two.
    std::uint64_t ring_stride;  ///< Bytes from one ring's header to the next.
    std::uint64_t rings_offset;
    std::uint64_t run_id;         ///< Of gpuspy-run; 0 without.
    char trace_path[kPathBytes];  ///< Absolute.
    char boot_id[40];

    alignas(64)
        std::atomic<std::uint32_t> ring_count;  ///< Rings ever made; pairs: release by the maker, acquire by readers.
    std::atomic<std::uint32_t> owner_state;     ///< OwnerState.
    std::atomic<std::uint64_t> commit_seq;      ///< The current slot is commit_seq & 1.
    std::uint64_t committed_file_bytes[2];
    std::uint64_t committed_exchange[2];  ///< FileHeader::exchange of the file that has that size.
    std::atomic<std::uint64_t> lost[16];  ///< By LossCause, those that belong to no ring.
    /// `gpuspy-run snapshot` counts it up and waits until snapshot_served has caught up: then all events from before are in
    /// the trace. Relaxed by the asker; the drain thread's release of snapshot_served pairs with the asker's acquire.
    std::atomic<std::uint64_t> snapshot_request;
    std::atomic<std::uint64_t> snapshot_served;
};

struct RingHeader {
    // Set by the maker before ring_count, then constant. (Which thread writes is said in the ring, by a ThreadEvent.)
    std::uint32_t index;
    std::atomic<std::uint32_t>
        tid;  ///< Its thread now, for a salvager that missed the ThreadEvent; set when it is claimed.
    // The writer's line.
    alignas(64) std::atomic<
        std::
            uint64_t> head;  ///< Bytes ever written. Release by the writer, acquire by the reader: publishes the events below it.
    std::atomic<std::uint64_t> dropped;   ///< Events dropped because the ring was full. Relaxed: a counter.
    std::atomic<std::uint64_t> recorded;  ///< Call events written. Relaxed.
    std::atomic<std::uint32_t>
        open_api;  ///< The outermost call the thread is in (api + 1), 0 if none. Relaxed: a hint for a salvager.
    std::atomic<std::uint32_t> thread_ended;  ///< The thread has ended; the ring may be given to another once empty.
    std::atomic<std::uint64_t> open_begin_ticks;
    std::uint64_t launch_count;  ///< Launch ids given so far, by every thread that had the ring: never reset.
    // The reader's line.
    alignas(64) std::atomic<
        std::
            uint64_t> tail;  ///< Bytes ever consumed. Release by the reader, acquire by the writer: frees the space below it.
    std::uint64_t committed[2];  ///< Positions that belong to MapHeader's slots.
};
static_assert(sizeof(RingHeader) == 192);

}  // namespace gpuspy::abi

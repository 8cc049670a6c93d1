#include "collector/sink/salvage.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>

#include "collector/ring/clock.hpp"
#include "collector/ring/ring.hpp"
#include "collector/ring/ring_set.hpp"
#include "collector/ring/text.hpp"
#include "collector/sink/appender.hpp"
#include "collector/sink/encoder.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/flight_recorder.hpp"
#include "collector/sink/ring_file.hpp"
#include "collector/sink/trace_tail.hpp"

namespace gpuspy::sink {

namespace {

/// Of 5 ms, for another process that empties the same ring.
constexpr int kMostWaits = 400;
/// Threads that a notice names as being inside a call when the process died.
constexpr unsigned kMostOpenCalls = 8;

void note_open_call(Appender& out, const abi::RingHeader& ring, const abi::ApiEntry* apis,
                    std::uint32_t api_count) noexcept {
    const std::uint32_t api = ring.open_api.load(std::memory_order_relaxed) - 1;
    char text[192];
    ring::TextBuilder builder(text, sizeof text);
    builder.text("thread ").decimal(ring.tid.load(std::memory_order_relaxed)).text(" was in ");
    if (api < api_count) {
        builder.text_n(apis[api].name, strnlen(apis[api].name, sizeof apis[api].name));
    } else {
        builder.text("a call");
    }
    builder.text(" when the process ended");
    out.emit([&](Encoder& encoder) { return encoder.notice(out.ticks(), text); });
}

/// The events of one ring that the trace does not have. Returns how many.
std::uint64_t take_ring(Appender& out, const abi::RingHeader& ring, std::uint32_t index, std::uint64_t ring_bytes,
                        std::uint64_t position, SalvageResult* result) noexcept {
    const std::uint64_t head = ring.head.load(std::memory_order_relaxed);
    std::uint32_t tid = ring.tid.load(std::memory_order_relaxed);
    std::uint64_t events = 0;
    const auto visit = [&](const abi::EventHeader* event, std::uint64_t) {
        if (event->type == abi::EventType::kThread) {
            tid = reinterpret_cast<const abi::ThreadEvent*>(event)->tid;
            return true;
        }
        if (event->type == abi::EventType::kCall) {
            out.saw(reinterpret_cast<const abi::CallEvent*>(event)->end_ticks);
        } else if (event->type == abi::EventType::kRange) {
            out.saw(reinterpret_cast<const abi::RangeEvent*>(event)->ticks);
        }
        out.emit([&](Encoder& encoder) {
            return (encoder.is_current(index, tid) || encoder.thread(index, tid, "")) && encoder.event(event);
        });
        ++events;
        return true;
    };
    if (ring::walk(&ring, ring_bytes, position, head, visit).end == ring::WalkEnd::kCorrupt) {
        ++result->corrupt_rings;
        out.emit([&](Encoder& encoder) {
            return encoder.notice(out.ticks(),
                                  "a ring of the dead process was damaged: the rest of its events is missing");
        });
    }
    const std::uint64_t dropped = ring.dropped.load(std::memory_order_relaxed);
    if (dropped != 0) {
        out.emit([&](Encoder& encoder) { return encoder.loss(abi::LossCause::kRingFull, dropped, index); });
    }
    return events;
}

void take_all(Appender& out, RingFile& file, const abi::ApiEntry* apis, SalvageResult* result) noexcept {
    const abi::MapHeader& map = file.header();
    const std::uint64_t slot = map.commit_seq.load(std::memory_order_relaxed) & 1;
    unsigned open_calls = 0;
    for (std::uint32_t i = 0; i < file.ring_count(); ++i) {
        const abi::RingHeader* ring = file.read_ring(i);
        if (ring == nullptr) {
            ++result->corrupt_rings;
            continue;
        }
        result->events += take_ring(out, *ring, i, map.ring_bytes, ring->committed[slot], result);
        if (ring->open_api.load(std::memory_order_relaxed) != 0 && open_calls++ < kMostOpenCalls) {
            note_open_call(out, *ring, apis, map.api_count);
        }
    }
    for (unsigned cause = 0; cause < abi::kLossCauseCount; ++cause) {
        const std::uint64_t lost = map.lost[cause].load(std::memory_order_relaxed);
        if (lost != 0) {
            out.emit([&](Encoder& encoder) {
                return encoder.loss(static_cast<abi::LossCause>(cause), lost, Encoder::kNoThread);
            });
        }
    }
    out.emit([&](Encoder& encoder) { return encoder.end(out.ticks(), abi::EndKind::kSalvaged, 0, 0); });
    out.flush();
}

/// What a trace that cannot be opened means.
SalvageReason reason_of(int error) noexcept {
    switch (error) {
        case EAGAIN:
            return SalvageReason::kTraceBusy;
        case ENOENT:
        case ENOTDIR:
        case ELOOP:
        case EPERM:
        case EINVAL:
            return SalvageReason::kNoTrace;
        default:
            return SalvageReason::kFailed;
    }
}

SalvageReason salvage_into_trace(RingFile& file, SalvageResult* result) noexcept {
    const abi::MapHeader& map = file.header();
    TraceIdentity identity;
    std::uint64_t file_bytes = 0;
    const int fd = open_trace_for_append(result->trace_path, &identity, &file_bytes, &result->error);
    if (fd < 0) {
        return reason_of(result->error);
    }
    if (identity.nonce != map.nonce) {
        ring::close_fd(fd);
        return SalvageReason::kNoTrace;
    }
    const std::uint64_t slot = map.commit_seq.load(std::memory_order_relaxed) & 1;
    // Of a file that came in its place after the commit all was committed.
    const bool is_committed_file = map.committed_exchange[slot] == identity.exchange;
    const std::uint64_t committed = is_committed_file ? map.committed_file_bytes[slot] : file_bytes;
    const std::uint64_t limit = committed < identity.header_bytes ? identity.header_bytes
                                : committed < file_bytes          ? committed
                                                                  : file_bytes;
    const TraceTail tail = find_trace_tail(fd, identity.header_bytes, limit);
    result->cut_bytes = file_bytes - tail.bytes;
    const abi::ApiEntry* apis = file.read_apis();
    Appender out;
    if (apis == nullptr) {
        ring::close_fd(fd);
        result->error = ENOMEM;
        return SalvageReason::kFailed;
    }
    result->error = out.init(fd, result->trace_path, tail, abi::kBlockSalvaged, apis, map.api_count);
    if (result->error == 0) {
        take_all(out, file, apis, result);
        result->error = out.error();
        remove_successor(result->trace_path, identity);
    }
    return result->error == 0 ? SalvageReason::kDone : SalvageReason::kFailed;
}

/// Nothing is left to do for this ring file.
bool is_done_with(SalvageReason reason) noexcept {
    return reason == SalvageReason::kDone || reason == SalvageReason::kEnded || reason == SalvageReason::kNoTrace ||
           reason == SalvageReason::kRemovedUnread;
}

SalvageReason salvage(const char* ring_path, const SalvageFilter& filter, SalvageResult* result) noexcept {
    RingFile file;
    const RingFileState state = file.open(ring_path);
    if (state == RingFileState::kBeingTaken) {
        const abi::MapHeader& map = file.header();
        const bool is_asked_for =
            (filter.run_id != 0 && filter.run_id == map.run_id) || (filter.nonce != 0 && filter.nonce == map.nonce);
        result->pid = map.pid;
        ring::TextBuilder(result->trace_path, sizeof result->trace_path)
            .text_n(map.trace_path, strnlen(map.trace_path, sizeof map.trace_path));
        return is_asked_for ? SalvageReason::kBeingTaken : SalvageReason::kFiltered;
    }
    if (state == RingFileState::kNotARing) {
        if (file.is_left_unfinished()) {
            file.unlink();
        }
        return SalvageReason::kNotARing;
    }
    if (state == RingFileState::kOtherVersion) {
        const bool is_any = filter.run_id == 0 && filter.nonce == 0 && filter.boot_id == nullptr;
        if (!filter.removes_older || !is_any || !file.is_unused_older()) {
            return SalvageReason::kOtherVersion;
        }
        result->removed_bytes = file.file_bytes();
        file.unlink();
        return SalvageReason::kRemovedUnread;
    }
    const abi::MapHeader& map = file.header();
    result->nonce = map.nonce;
    result->run_id = map.run_id;
    result->pid = map.pid;
    ring::TextBuilder(result->trace_path, sizeof result->trace_path)
        .text(filter.trace_path != nullptr ? filter.trace_path : map.trace_path);
    if (state == RingFileState::kOwnerAlive) {
        return SalvageReason::kOwnerAlive;
    }
    if ((filter.run_id != 0 && filter.run_id != map.run_id) || (filter.nonce != 0 && filter.nonce != map.nonce) ||
        (filter.boot_id != nullptr && std::strcmp(filter.boot_id, map.boot_id) != 0)) {
        return SalvageReason::kFiltered;
    }
    SalvageReason reason = SalvageReason::kEnded;
    if (map.owner_state.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(abi::OwnerState::kEnded)) {
        reason = salvage_into_trace(file, result);
    }
    if (is_done_with(reason)) {
        file.unlink();
    }
    return reason;
}

}  // namespace

SalvageResult salvage_ring(const char* ring_path, const SalvageFilter& filter) noexcept {
    const ring::ErrnoGuard keep_errno;
    SalvageResult result;
    result.reason = salvage(ring_path, filter, &result);
    // Whoever asks for this one will read the trace, and shall not read it half done. A file that is gone has been taken.
    for (int waited = 0; result.reason == SalvageReason::kBeingTaken && waited < kMostWaits; ++waited) {
        const timespec pause{0, 5'000'000};
        syscall(SYS_nanosleep, &pause, nullptr);
        result.reason = salvage(ring_path, filter, &result);
    }
    return result;
}

SalvageResult salvage_for_trace(const char* trace_path, const char* ring_directory) noexcept {
    const ring::ErrnoGuard keep_errno;
    SalvageResult result;
    result.reason = SalvageReason::kNotARing;
    const int fd = ring::open_fd(trace_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return result;
    }
    TraceIdentity identity;
    const bool is_trace = read_trace_identity(fd, &identity);
    ring::close_fd(fd);
    if (!is_trace) {
        return result;
    }
    char ring_path[abi::kPathBytes];
    if (!ring::build_ring_path(ring_directory, static_cast<std::uint32_t>(identity.pid), identity.nonce, ring_path,
                               sizeof ring_path)) {
        return result;
    }
    SalvageFilter filter;
    filter.nonce = identity.nonce;
    filter.trace_path = trace_path;
    return salvage_ring(ring_path, filter);
}

std::uint32_t salvage_directory(const char* directory, const SalvageFilter& filter,
                                void (*report)(void* self, const SalvageResult&), void* self,
                                const SalvageLimit& limit) {
    const int fd = ring::open_fd(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    struct Entry {  // linux_dirent64, whose name begins right behind its type.
        std::uint64_t inode;
        std::int64_t offset;
        std::uint16_t bytes;
        std::uint8_t type;
    };
    constexpr std::size_t kNameOffset = offsetof(Entry, type) + 1;
    std::uint32_t done = 0;
    std::uint32_t removed = 0;
    const std::uint64_t begin_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
    const auto is_over = [&] {
        return removed >= limit.rings || ring::read_clock_ns(CLOCK_MONOTONIC) - begin_ns >= limit.ns;
    };
    alignas(Entry) char entries[2048];
    for (;;) {
        const long count = syscall(SYS_getdents64, fd, entries, sizeof entries);
        if (count <= 0 || is_over()) {
            break;
        }
        for (long at = 0; at < count && !is_over();) {
            const auto* entry = reinterpret_cast<const Entry*>(entries + at);
            const char* name = entries + at + kNameOffset;
            at += entry->bytes;
            if (std::strncmp(name, "gpuspy.", 7) != 0) {
                continue;
            }
            char path[abi::kPathBytes];
            ring::TextBuilder(path, sizeof path).text(directory).text("/").text(name);
            const SalvageResult result = salvage_ring(path, filter);
            done += result.reason == SalvageReason::kDone ? 1 : 0;
            removed += is_done_with(result.reason) ? 1 : 0;
            if (result.reason != SalvageReason::kFiltered && result.reason != SalvageReason::kNotARing) {
                report(self, result);
            }
        }
    }
    ring::close_fd(fd);
    return done;
}

}  // namespace gpuspy::sink

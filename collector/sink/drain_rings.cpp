// What the drain thread takes out of the rings.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "collector/ring/clock.hpp"
#include "collector/ring/owned_fd.hpp"
#include "collector/ring/ring.hpp"
#include "collector/ring/text.hpp"
#include "collector/sink/drain.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::uint64_t kNameAgeNs = 1'000'000'000;

}  // namespace

void Drain::drain_rings() noexcept {
    const std::uint32_t count = rings_->ring_count();
    for (std::uint32_t i = 0; i < count; ++i) {
        drain_ring(rings_->ring(i), states_[i]);
    }
}

/// Up to where the ring is now: a busy thread cannot keep the others waiting.
void Drain::drain_ring(abi::RingHeader* ring, RingState& state) noexcept {
    const std::uint64_t limit = ring::written(ring);
    if (limit == state.position) {
        return;
    }
    const std::uint32_t index = ring->index;
    const auto visit = [&](const abi::EventHeader* event, std::uint64_t position) {
        state.position = position;
        emit_event(event, index, state);
        return true;
    };
    const ring::Walk walk = ring::walk(ring, rings_->ring_bytes(), state.position, limit, visit);
    state.position = limit;
    if (walk.end == ring::WalkEnd::kCorrupt) {
        rings_->header()->lost[static_cast<unsigned>(abi::LossCause::kUnparsedRecord)].fetch_add(
            1, std::memory_order_relaxed);
        emit([&] {
            return encoder_.notice(ring::ticks(), "a ring was overwritten by the program: its events were skipped");
        });
    }
}

void Drain::emit_event(const abi::EventHeader* event, std::uint32_t index, RingState& state) noexcept {
    keep_blocks_short();  // First: state.position says that this event is not in a block.
    if (event->type == abi::EventType::kThread) {
        state.tid = reinterpret_cast<const abi::ThreadEvent*>(event)->tid;
        state.name[0] = '\0';
        state.name_ns = 0;
    }
    emit([&] {
        if (!encoder_.is_current(index, state.tid)) {
            read_thread_name(state);
            if (!encoder_.thread(index, state.tid, state.name)) {
                return false;
            }
        }
        return encoder_.event(event);
    });
    if (recorder_.is_on()) {
        note_for_recorder(event, index, state.tid);
    }
}

/// Threads get their names after they start, so the name is read again now and then. One that has ended keeps its last.
void Drain::read_thread_name(RingState& state) noexcept {
    if (state.name_ns != 0 && pass_ns_ - state.name_ns < kNameAgeNs) {
        return;
    }
    state.name_ns = pass_ns_;
    char path[48];
    ring::TextBuilder(path, sizeof path).text("/proc/self/task/").decimal(state.tid).text("/comm");
    const int fd = ring::open_fd(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    char name[sizeof state.name];
    const long count = syscall(SYS_read, fd, name, sizeof name - 1);
    ring::close_fd(fd);
    if (count > 1) {
        name[count - 1] = '\0';  // It ends in a newline.
        std::memcpy(state.name, name, static_cast<std::size_t>(count));
    }
}

}  // namespace gpuspy::sink

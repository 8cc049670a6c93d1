// The flight recorder's part of the drain thread: when its next file begins, and what is said in that first.
#include <algorithm>
#include <cerrno>

#include "collector/ring/clock.hpp"
#include "collector/sink/drain.hpp"
#include "collector/sink/memory.hpp"

namespace gpuspy::sink {

namespace {

/// The launches that the nodes of a kGraphNodes record name.
template <class Visit>
void visit_launch_ids(const std::uint8_t* fields, std::size_t bytes, Visit&& visit) noexcept {
    WireReader reader(fields, bytes);
    reader.varint();  // ticks
    reader.varint();  // exec
    for (std::uint64_t left = reader.varint(); left != 0 && !reader.failed(); --left) {
        reader.varint();  // index
        reader.varint();  // type
        reader.varint();  // function
        if (const std::uint64_t launch_id = reader.varint(); launch_id != 0) {
            visit(launch_id);
        }
    }
}

}  // namespace

int Drain::init_recorder() noexcept {
    int error = recorder_.init(config_.kept, *writer_, config_.header, config_.header_bytes,
                               ring::read_clock_ns(CLOCK_MONOTONIC));
    error = error != 0 ? error : facts_.init();
    error = error != 0 ? error : origins_.init(rings_->apis(), rings_->header()->api_count);
    error = error != 0 ? error : open_ranges_.init();
    encoder_.keep_facts_in(error == 0 ? &facts_ : nullptr);
    return error;
}

/// What the next part needs of an event that has been encoded.
void Drain::note_for_recorder(const abi::EventHeader* event, std::uint32_t index, std::uint32_t tid) noexcept {
    if (event->type == abi::EventType::kCall) {
        origins_.note(index, *reinterpret_cast<const abi::CallEvent*>(event));
    } else if (event->type == abi::EventType::kRange) {
        open_ranges_.note(index, tid, *reinterpret_cast<const abi::RangeEvent*>(event));
    } else if (event->type == abi::EventType::kThread) {
        open_ranges_.thread_ended(index);
    }
}

/// Between two blocks: nothing is encoded that is not committed.
void Drain::look_after_recorder() noexcept {
    if (!recorder_.is_on() || is_saying_again_) {
        return;
    }
    const std::uint64_t now_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
    if (recorder_.wants_exchange(now_ns) && recorder_.make_exchange()) {
        is_write_error_noted_ = false;  // Of the file before.
        commit();
    }
    // A file's first segment has the number before the one that goes on in both.
    if (recorder_.wants_successor(now_ns) && encoder_.next_segment() != 0 && recorder_.begin_successor(now_ns) == 0) {
        begin_kept_part();
    }
}

void Drain::begin_kept_part() noexcept {
    const std::uint32_t segment = encoder_.next_segment();
    is_saying_again_ = true;
    say_again_error_ = 0;
    begin_segment(segment - 1);
    encoder_.keep_facts_in(nullptr);
    put_kept_facts();
    flush_block();
    encoder_.keep_facts_in(&facts_);
    is_saying_again_ = false;
    if (say_again_error_ != 0) {
        recorder_.abandon_successor(say_again_error_);
    }
    begin_segment(segment);
}

void Drain::put_kept_facts() noexcept {
    const EncodedCounts& counts = encoder_.counts();
    KeptPart part;
    part.ticks = ring::ticks();
    part.calls = counts.calls;
    part.device_records = counts.device_records;
    part.ranges = counts.ranges;
    part.correlation = counts.correlation;
    part.blocks = appended_blocks_;
    part.bytes = appended_bytes_;
    part.limit_ns = recorder_.limit().ns;
    part.limit_bytes = recorder_.limit().bytes;
    emit([&] { return encoder_.kept(part); });
    put_anchor();
    put_costs();
    facts_.visit([&](abi::Tag tag, const std::uint8_t* fields, std::size_t bytes) {
        emit([&] { return encoder_.fact(tag, fields, bytes); });
    });
    put_origins();
    put_open_ranges();
    if (facts_.refused() != 0) {
        emit([&] {
            return encoder_.notice(part.ticks,
                                   "more names and graphs than the flight recorder can keep: some are not known here");
        });
    }
    if (open_ranges_.refused() != 0) {
        emit([&] {
            return encoder_.notice(part.ticks,
                                   "more NVTX ranges were open than the flight recorder can keep: some are not here");
        });
    }
}

/// As they began, each on its thread.
void Drain::put_open_ranges() noexcept {
    open_ranges_.visit([&](std::uint32_t index, std::uint32_t tid, const abi::RangeEvent& event) {
        emit([&] {
            const bool has_name = states_[index].tid == tid;
            if (!encoder_.is_current(index, tid) && !encoder_.thread(index, tid, has_name ? states_[index].name : "")) {
                return false;
            }
            return encoder_.open_range(&event);
        });
    });
}

/// Of the captured launches those that a graph was made of.
void Drain::put_origins() noexcept {
    std::size_t count = 0;
    facts_.visit([&](abi::Tag tag, const std::uint8_t* fields, std::size_t bytes) {
        if (tag == abi::Tag::kGraphNodes) {
            visit_launch_ids(fields, bytes, [&](std::uint64_t) { ++count; });
        }
    });
    auto* wanted = count == 0 ? nullptr : map_memory<std::uint64_t>(count);
    if (wanted == nullptr) {
        return;
    }
    std::size_t filled = 0;
    facts_.visit([&](abi::Tag tag, const std::uint8_t* fields, std::size_t bytes) {
        if (tag == abi::Tag::kGraphNodes) {
            visit_launch_ids(fields, bytes, [&](std::uint64_t id) { wanted[filled++] = id; });
        }
    });
    std::sort(wanted, wanted + count);
    origins_.visit([&](const CapturedOrigin& origin) {
        if (std::binary_search(wanted, wanted + count, origin.launch_id)) {
            emit([&] { return encoder_.origin(origin); });
        }
    });
    unmap_memory(wanted, count);
}

}  // namespace gpuspy::sink

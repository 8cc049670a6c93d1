// What the drain thread does in a pass: from rings and the device into blocks, and the commit of each.
#include <ctime>

#include "collector/ring/clock.hpp"
#include "collector/ring/ring.hpp"
#include "collector/sink/drain.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::uint64_t kAnchorEveryNs = 100'000'000;
constexpr std::uint64_t kCostsEveryNs = 100'000'000;

}  // namespace

void Drain::step(PassStep step) noexcept {
    if (config_.at_step != nullptr) {
        config_.at_step(config_.at_step_self, step);
    }
}

void Drain::run_pass(bool final) noexcept {
    pass_ns_ = ring::read_clock_ns(CLOCK_MONOTONIC);
    // Before the rings are looked at: what was written to them before the request will be in the trace.
    const std::uint64_t snapshot_request = rings_->header()->snapshot_request.load(std::memory_order_acquire);
    look_after_recorder();
    if (encoder_.wants_segment() || segment_raw_bytes_ >= config_.segment_bytes) {
        begin_segment(encoder_.next_segment());
    }
    if (!first_facts_told_) {
        put_first_facts();
    }
    if (final || last_anchor_ns_ == 0 || pass_ns_ - last_anchor_ns_ >= kAnchorEveryNs) {
        put_anchor();
    }
    put_objects();
    drain_rings();
    if (source_.collect != nullptr) {
        RecordSink sink(*this);
        source_.collect(source_.self, sink, final);
    }
    put_losses();
    if (final || last_costs_ns_ == 0 || pass_ns_ - last_costs_ns_ >= kCostsEveryNs) {
        put_costs();
    }
    if (final) {
        // The device's last clock reading is the one that its last records need.
        put_anchor();
        const std::uint64_t now = ring::ticks();
        emit([&] { return encoder_.span(now, abi::SpanKind::kHost, false, "end of recording"); });
        emit([&] { return encoder_.end(now, abi::EndKind::kClean, 0, 0); });
    }
    flush_block();
    answer_snapshot(snapshot_request);
    if (final) {
        recorder_.finish();
    }
}

/// Pairs with the asker's acquire: all is in the file.
void Drain::answer_snapshot(std::uint64_t request) noexcept {
    if (rings_->header()->snapshot_served.load(std::memory_order_relaxed) != request) {
        rings_->header()->snapshot_served.store(request, std::memory_order_release);
    }
}

void Drain::flush_block() noexcept {
    const bool wants_segment = encoder_.wants_segment();
    if (encoder_.payload_bytes() == 0) {
        if (wants_segment) {
            begin_segment(encoder_.next_segment());
        }
        return;
    }
    const Block block = encoder_.finish_block();
    if (is_saying_again_) {
        say_again_error_ = say_again_error_ != 0 ? say_again_error_
                                                 : recorder_.append_to_successor(writer_->build(block, ring::ticks()));
        return;
    }
    step(PassStep::kEncoded);
    const bool appended = append_block(block);
    step(PassStep::kAppended);
    commit();
    segment_raw_bytes_ += block.raw_bytes;
    if (!appended) {
        // The definitions in that block are lost. A segment whose first block is missing was never begun.
        begin_segment(block.index == 0 ? block.segment : block.segment + 1);
        tell_again();
    } else if (wants_segment) {
        begin_segment(block.segment + 1);
    }
    look_after_recorder();
}

bool Drain::append_block(const Block& block) noexcept {
    const Frame frame = writer_->build(block, ring::ticks());
    const int error = recorder_.is_on() ? recorder_.append(frame) : writer_->append(frame);
    if (error != 0) {
        note_write_error(error);
        return false;
    }
    ++appended_blocks_;
    appended_bytes_ += frame.count;
    return true;
}

void Drain::begin_segment(std::uint32_t segment) noexcept {
    encoder_.begin_segment(segment);
    segment_raw_bytes_ = 0;
    last_anchor_ns_ = 0;  // Each segment has its own clocks.
}

/// Facts that hold for the whole file may have been in a block that was lost.
void Drain::tell_again() noexcept {
    objects_.forget();
    last_objects_ticks_ = 0;
    first_facts_told_ = false;
    for (std::uint64_t& told : told_lost_) {
        told = 0;
    }
    const std::uint32_t count = rings_->ring_count();
    for (std::uint32_t i = 0; i < count; ++i) {
        states_[i].told_dropped = 0;
    }
}

/// The commit protocol of abi/ring_layout.hpp. Where the block could not be written its events are gone (and counted by
/// the writer): the rings are freed all the same, since a full disk must not stop the host.
void Drain::commit() noexcept {
    abi::MapHeader* header = rings_->header();
    const std::uint32_t count = rings_->ring_count();
    const std::uint64_t sequence = header->commit_seq.load(std::memory_order_relaxed) + 1;
    const std::uint64_t slot = sequence & 1;
    header->committed_file_bytes[slot] = writer_->file_bytes();
    header->committed_exchange[slot] = recorder_.exchange();
    for (std::uint32_t i = 0; i < count; ++i) {
        rings_->ring(i)->committed[slot] = states_[i].position;
    }
    step(PassStep::kSlotStored);
    // Pairs with the salvager's acquire: publishes the slot.
    header->commit_seq.store(sequence, std::memory_order_release);
    step(PassStep::kCommitted);
    for (std::uint32_t i = 0; i < count; ++i) {
        ring::consume(rings_->ring(i), states_[i].position);
    }
    step(PassStep::kTailsMoved);
}

}  // namespace gpuspy::sink

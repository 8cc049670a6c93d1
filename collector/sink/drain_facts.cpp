// What the drain thread says about the recording itself: clocks, mapped objects, losses, costs; and the records of the
// source.
#include <sys/resource.h>

#include <cstring>

#include "collector/abi/trace_format.hpp"
#include "collector/ring/clock.hpp"
#include "collector/ring/text.hpp"
#include "collector/sink/drain.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/memory.hpp"

namespace gpuspy::sink {

namespace {

std::uint64_t nanoseconds(const timeval& time) noexcept {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_usec) * 1000U;
}

}  // namespace

void Drain::put_first_facts() noexcept {
    first_facts_told_ = true;
    const std::uint64_t now = ring::ticks();
    emit([&] { return encoder_.span(now, abi::SpanKind::kHost, true, ""); });
    if (!rings_->is_shared()) {
        char text[160];
        ring::TextBuilder(text, sizeof text)
            .text("no shared memory for the rings (errno ")
            .decimal(static_cast<unsigned>(rings_->share_error()))
            .text("): if the process is killed, the events since the last write are lost");
        emit([&] { return encoder_.notice(now, text); });
    }
}

/// Of several readings the tightest: one that was interrupted is wide.
void Drain::put_anchor() noexcept {
    Anchor best;
    best.uncertainty_ns = ~std::uint64_t{0};
    for (int i = 0; i < 5; ++i) {
        Anchor anchor;
        anchor.monotonic_ns = ring::read_clock_ns(CLOCK_MONOTONIC);
        anchor.ticks = ring::ticks();
        anchor.device_clock_ns = source_.clock_ns == nullptr ? 0 : source_.clock_ns(source_.self);
        anchor.realtime_ns = ring::read_clock_ns(CLOCK_REALTIME);
        anchor.uncertainty_ns = ring::read_clock_ns(CLOCK_MONOTONIC) - anchor.monotonic_ns;
        if (anchor.uncertainty_ns < best.uncertainty_ns) {
            best = anchor;
        }
    }
    last_anchor_ns_ = pass_ns_;
    emit([&] { return encoder_.anchor(best); });
}

void Drain::put_objects() noexcept {
    const std::uint64_t now = ring::ticks();
    if (objects_.changed()) {
        const auto visit = [](void* self, std::uint64_t begin, std::uint64_t end, const char* path,
                              const char* version) noexcept {
            auto* drain = static_cast<Drain*>(self);
            // Mapped at some time since the last look, and perhaps called since: the earlier time is the safe one.
            const MappedObject object{drain->last_objects_ticks_, begin, end, path, version};
            drain->emit([&] { return drain->encoder_.object(object); });
        };
        objects_.snapshot(visit, this);
    }
    last_objects_ticks_ = now;
}

/// Running totals: the last record of a cause and a thread counts.
void Drain::put_loss(abi::LossCause cause, std::uint64_t now, std::uint64_t& told, std::uint32_t thread) noexcept {
    if (now != told) {
        told = now;
        emit([&] { return encoder_.loss(cause, now, thread); });
    }
}

void Drain::put_losses() noexcept {
    const std::uint32_t count = rings_->ring_count();
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint64_t dropped = rings_->ring(i)->dropped.load(std::memory_order_relaxed);
        put_loss(abi::LossCause::kRingFull, dropped, states_[i].told_dropped, i);
    }
    constexpr auto kWriteFailed = static_cast<unsigned>(abi::LossCause::kWriteFailed);
    rings_->header()->lost[kWriteFailed].store(writer_->failed_bytes(), std::memory_order_relaxed);
    for (unsigned cause = 0; cause < abi::kLossCauseCount; ++cause) {
        const std::uint64_t lost = rings_->header()->lost[cause].load(std::memory_order_relaxed);
        put_loss(static_cast<abi::LossCause>(cause), lost, told_lost_[cause], Encoder::kNoThread);
    }
}

/// In the file's header: what cannot be written cannot say so either.
void Drain::note_write_error(int error) noexcept {
    if (is_write_error_noted_ || config_.header == nullptr) {
        return;
    }
    auto* header = map_memory<std::uint8_t>(config_.header_bytes);
    if (header == nullptr) {
        return;
    }
    is_write_error_noted_ = true;
    std::memcpy(header, config_.header, config_.header_bytes);
    set_exchange(header, config_.header_bytes, recorder_.exchange());
    set_write_error(header, config_.header_bytes, error);
    writer_->replace_header(header, sizeof(abi::FileHeader));
    unmap_memory(header, config_.header_bytes);
}

void Drain::put_costs() noexcept {
    last_costs_ns_ = pass_ns_;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    CpuTimes times;
    times.ticks = ring::ticks();
    times.user_ns = nanoseconds(usage.ru_utime);
    times.system_ns = nanoseconds(usage.ru_stime);
    times.own_ns = ring::read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    times.callback_ns = source_.callback_ns == nullptr ? 0 : source_.callback_ns(source_.self);
    emit([&] { return encoder_.cpu(times); });

    std::uint64_t calls = 0;
    const std::uint32_t count = rings_->ring_count();
    for (std::uint32_t i = 0; i < count; ++i) {
        calls += rings_->ring(i)->recorded.load(std::memory_order_relaxed);
    }
    emit([&] { return encoder_.cost(calls, config_.call_ps); });
}

void Drain::add_late_calls(std::uint64_t count) noexcept {
    if (is_running() || rings_ == nullptr || count == 0) {
        return;
    }
    begin_segment(encoder_.next_segment());
    emit([&] { return encoder_.loss(abi::LossCause::kAfterEnd, count, Encoder::kNoThread); });
    if (encoder_.payload_bytes() != 0) {
        append_block(encoder_.finish_block());
    }
}

void RecordSink::kernel(const KernelRecord& record) noexcept {
    drain_.emit([&] { return drain_.encoder_.kernel(record); });
    drain_.keep_blocks_short();
}

void RecordSink::memcpy(const MemcpyRecord& record) noexcept {
    drain_.emit([&] { return drain_.encoder_.memcpy(record); });
    drain_.keep_blocks_short();
}

void RecordSink::memset(const MemsetRecord& record) noexcept {
    drain_.emit([&] { return drain_.encoder_.memset(record); });
    drain_.keep_blocks_short();
}

void RecordSink::device(const DeviceInfo& device) noexcept {
    drain_.emit([&] { return drain_.encoder_.device(device); });
}

void RecordSink::info(const char* key, const char* value) noexcept {
    drain_.emit([&] { return drain_.encoder_.info(key, value); });
}

void RecordSink::span(std::uint64_t ticks, abi::SpanKind what, bool on, const char* reason) noexcept {
    drain_.emit([&] { return drain_.encoder_.span(ticks, what, on, reason); });
}

void RecordSink::loss(abi::LossCause cause, std::uint64_t count) noexcept {
    drain_.rings_->header()->lost[static_cast<unsigned>(cause)].fetch_add(count, std::memory_order_relaxed);
}

void RecordSink::notice(std::uint64_t ticks, const char* text) noexcept {
    drain_.emit([&] { return drain_.encoder_.notice(ticks, text); });
}

}  // namespace gpuspy::sink

#include "interpose/device/collection.hpp"

#include <cstdio>

#include "collector/ring/clock.hpp"
#include "interpose/device/buffers.hpp"
#include "interpose/device/cupti_host.hpp"
#include "interpose/device/device.hpp"
#include "interpose/device/device_info.hpp"
#include "interpose/device/flusher.hpp"
#include "interpose/device/host_clock.hpp"
#include "interpose/device/host_kinds.hpp"
#include "interpose/device/host_records.hpp"
#include "interpose/device/opened_device.hpp"
#include "interpose/device/records.hpp"
#include "interpose/device/shared_buffers.hpp"
#include "interpose/device/shared_kinds.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/nvtx/inject.hpp"
#include "interpose/resolve/bypass.hpp"

namespace gpuspy::hook {
namespace {

constexpr std::uint64_t kClockSlackNs = 1'000'000'000;

constinit SetUpLock changes_lock;

/// A change of state, to be written by the drain thread.
struct Change {
    std::uint64_t ticks;
    bool on;
    char reason[kMaxReasonBytes];
};

/// Those that are not written yet; under the lock. There are few, but for a host that takes CUPTI and gives it back all the time.
constexpr std::uint32_t kMaxChanges = 8;
constinit Change changes[kMaxChanges]{};
constinit std::atomic<std::uint32_t> change_count{0};

constinit std::atomic<bool> flushes_next{false};

// The drain thread's own.
constinit bool wrote_facts = false;
constinit std::uint64_t opened_at_ns = 0;  ///< Of the device clock.

struct Collection {
    sink::RecordSink& sink;
    BelievableTimes times;
};

void collect_buffer(void* context, std::uint8_t* buffer, const Filled& filled) noexcept {
    auto* collection = static_cast<Collection*>(context);
    const ClockLines clocks = lines_of(filled.clock);
    ActivityRecord read;
    if (filled.is_read) {
        for (std::uint32_t i = 0; i < filled.records; ++i) {
            __builtin_memcpy(&read, buffer + i * sizeof read, sizeof read);
            put_record(read, clocks, collection->times, collection->sink);
        }
        return;
    }
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = opened_device.cupti.get_next_record(buffer, filled.bytes, &record)) == CUPTI_SUCCESS) {
        if (read_record(opened_device.cupti, record, read)) {
            put_record(read, clocks, collection->times, collection->sink);
        } else if (!is_hosts_kind(record->kind)) {
            count_loss(abi::LossCause::kUnparsedRecord, 1);
        }
    }
    if (filled.bytes > 0 && result != CUPTI_ERROR_MAX_LIMIT_REACHED) count_loss(abi::LossCause::kUnparsedRecord, 1);
}

/// A buffer whose records cannot be read any more: CUPTI, which has their names, is gone.
void lose_buffer(void*, std::uint8_t*, const Filled& filled) noexcept {
    if (filled.bytes > 0) count_loss(abi::LossCause::kUnparsedRecord, filled.is_read ? filled.records : 1);
}

std::uint64_t device_clock_ns(void*) noexcept {
    const UsingCupti user;
    return user.device_state() == DeviceState::kOn ? device_now_ns(opened_device.cupti) : 0;
}

void write_changes(sink::RecordSink& sink) noexcept {
    while (change_count.load(std::memory_order_acquire) != 0) {
        Change first;
        {
            const Locked guard(changes_lock);
            const std::uint32_t count = change_count.load(std::memory_order_relaxed);
            first = changes[0];
            for (std::uint32_t i = 1; i < count; ++i) changes[i - 1] = changes[i];
            change_count.store(count - 1, std::memory_order_relaxed);
        }
        sink.span(first.ticks, abi::SpanKind::kDevice, first.on, first.reason);
    }
}

void write_bypasses(sink::RecordSink& sink, bool final) noexcept {
    note_bypasses();
    look_for_namespaces();
    char text[256];
    while (next_bypass(text, sizeof text, final)) sink.notice(ring::ticks(), text);
}

void write_whole_graphs(sink::RecordSink& sink) noexcept {
    if (!take_whole_graphs()) return;
    char text[256];
    snprintf(text, sizeof text,
             "%s traced CUDA graphs as a whole: CUPTI may have given no records of single kernels in graphs meanwhile",
             cupti_holder());
    sink.notice(ring::ticks(), text);
}

void collect(void*, sink::RecordSink& sink, bool final) noexcept {
    const InsideGpuspy inside;  // what CUPTI calls on this thread is not the host's
    write_bypasses(sink, final);
    write_whole_graphs(sink);
    nvtx::write_facts(sink);
    const DeviceState now = opened_device.state.load(std::memory_order_acquire);
    write_changes(sink);
    if (now == DeviceState::kUnopened || now == DeviceState::kOpening) return;
    const UsingCupti user;
    if (user.device_state() != now) return;  // the host finalises CUPTI this moment, or took it
    if (!wrote_facts) {
        wrote_facts = true;
        hide_calls_of_this_thread();
        write_device_facts(sink, now == DeviceState::kOn ? &opened_device.cupti : nullptr);
    }
    if (now == DeviceState::kOn) {
        if (final) stop_flusher();
        if (final || flushes_next.exchange(false, std::memory_order_acq_rel)) flush_at_end(opened_device.cupti);
        if (const std::uint64_t dropped = take_dropped(opened_device.cupti); dropped > 0) {
            count_loss(abi::LossCause::kCuptiDropped, dropped);
        }
    }
    read_host_clock(final);
    const std::uint64_t now_ns = device_clock_ns(nullptr);
    if (opened_at_ns == 0) opened_at_ns = now_ns;
    const std::uint64_t first_ns = opened_at_ns > kClockSlackNs ? opened_at_ns - kClockSlackNs : 0;
    Collection collection{sink, {first_ns, now_ns != 0 ? now_ns + kClockSlackNs : UINT64_MAX}};
    give_copies();
    visit_activity_buffers(collect_buffer, &collection);
}

std::uint64_t callback_ns(void*) noexcept {
    return buffer_callback_ns();
}

}  // namespace

void announce_device_change(bool on, const char* reason) noexcept {
    const Locked guard(changes_lock);
    const std::uint32_t count = change_count.load(std::memory_order_relaxed);
    Change& change = changes[count < kMaxChanges ? count : kMaxChanges - 1];
    change.ticks = ring::ticks();
    change.on = on;
    snprintf(change.reason, sizeof change.reason, "%s", reason);
    change_count.store(count < kMaxChanges ? count + 1 : kMaxChanges, std::memory_order_release);
}

void lose_buffers() noexcept {
    give_copies();
    visit_activity_buffers(lose_buffer, nullptr);
}

void forget_collection() noexcept {
    change_count.store(0, std::memory_order_relaxed);
    flushes_next.store(false, std::memory_order_relaxed);
    wrote_facts = false;
    opened_at_ns = 0;
}

void device_flush_next() noexcept {
    flushes_next.store(true, std::memory_order_release);
}

sink::DeviceSource device_source() noexcept {
    return {nullptr, collect, device_clock_ns, callback_ns};
}

}  // namespace gpuspy::hook

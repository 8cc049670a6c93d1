// CUPTI's activity records, by the layout of the CUPTI that wrote them.
#pragma once

#include "collector/sink/drain.hpp"
#include "interpose/device/cupti_api.hpp"
#include "interpose/device/host_clock.hpp"

namespace gpuspy::hook {

/// Bounds of believable device times, in ns of the device clock: a record outside counts, its times do not.
struct BelievableTimes {
    std::uint64_t first_ns;
    std::uint64_t last_ns;
};

/// A record that was read out of one of CUPTI's, to be put later. Trivial, so that it can lie in raw memory.
struct ActivityRecord {
    enum Kind : std::uint64_t { kKernel, kMemcpy, kMemset };
    Kind kind;
    alignas(
        8) unsigned char bytes[sizeof(sink::KernelRecord) > sizeof(sink::MemcpyRecord) ? sizeof(sink::KernelRecord)
                                                                                       : sizeof(sink::MemcpyRecord)];
};

/// Reads a record of `api`'s. False: a kind that we do not record.
bool read_record(const CuptiApi& api, const CUpti_Activity* record, ActivityRecord& into) noexcept;

/// Puts times on the device clock, judges them, and hands the record to the sink.
void put_record(const ActivityRecord& record, const ClockLines& clocks, const BelievableTimes& times,
                sink::RecordSink& sink) noexcept;

}  // namespace gpuspy::hook

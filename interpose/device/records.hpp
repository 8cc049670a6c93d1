// CUPTI's activity records, by the layout of the CUPTI that wrote them.
#pragma once

#include "collector/sink/drain.hpp"
#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

/// Bounds of believable device times, in ns of the device clock: a record outside counts, its times do not.
struct BelievableTimes {
    std::uint64_t first_ns;
    std::uint64_t last_ns;
};

/// Hands every record of the buffer to the sink. Returns how many could not be read (an unknown kind: counted as a loss).
std::uint64_t put_records(const CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes,
                          const BelievableTimes& times, sink::RecordSink& sink) noexcept;

}  // namespace gpuspy::hook

// What the activity half holds. Its two parts: records.cpp makes records of activities, buffers.cpp hands them over.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include <cupti.h>

namespace sim::cupti {

struct Pending {
    std::uint64_t complete_ns;
    std::vector<std::uint8_t> bytes;
};

struct Buffer {
    std::uint8_t* memory = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
    std::size_t max_records = 0;
    std::size_t records = 0;

    bool fits(std::size_t bytes) const { return used + bytes <= size && (max_records == 0 || records < max_records); }
};

/// Which of the two sets of activity functions is in use: they exclude each other.
enum class Functions { kNone, kFirst, kSecond };

// Never destroyed: a flush can come from an exit handler.
struct State {
    std::mutex mutex;
    std::array<std::atomic<bool>, CUPTI_ACTIVITY_KIND_COUNT> enabled{};      ///< Everywhere.
    std::array<std::set<CUcontext>, CUPTI_ACTIVITY_KIND_COUNT> contexts{};   ///< Where a kind is on for one of them,
    std::array<std::atomic<bool>, CUPTI_ACTIVITY_KIND_COUNT> in_contexts{};  ///< and whether there is one.
    std::atomic<Functions> functions{Functions::kNone};
    CUpti_BuffersCallbackRequestFunc request = nullptr;
    CUpti_BuffersCallbackCompleteFunc complete = nullptr;
    CUpti_TimestampCallbackFunc timestamp = nullptr;
    std::uint64_t timestamp_origin = 0;  ///< Of the client's clock, and of ours, when it was registered.
    std::uint64_t device_origin_ns = 0;
    std::deque<Pending> pending;
    std::vector<Buffer> spare;  ///< Requested, not yet used.
    Buffer current;
    std::size_t dropped = 0;
    std::uint64_t kernels = 0;
    std::atomic<std::uint32_t> flush_period_ms{0};
    std::map<int, std::size_t> attributes;
};

State& state();

/// The ids that the calling thread pushed.
std::vector<std::pair<CUpti_ExternalCorrelationKind, std::uint64_t>>& external_ids();

}  // namespace sim::cupti

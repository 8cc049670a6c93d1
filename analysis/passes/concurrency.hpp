// What runs at once on a device: activities in flight, streams, pairs of streams, copies and communication beside compute.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

/// The time during which exactly `level` activities were in flight.
struct InFlight {
    std::uint64_t level = 0;
    std::uint64_t time_ns = 0;
    std::optional<double> share_of_wall;  ///< If the device's clock is related to the host's.
    std::optional<double> share_of_busy;  ///< Not of level 0.
};

struct StreamUse {
    std::uint64_t stream = 0;      ///< CUPTI's id.
    std::uint64_t activities = 0;  ///< Those without a usable time too.
    std::uint64_t sum_ns = 0;      ///< Of durations.
    std::uint64_t busy_ns = 0;     ///< Length of the union.
    double share_of_busy = 0;      ///< Of the time when the device was busy.
    std::optional<double> share_of_wall;
};

/// Two streams and the time during which both were busy.
struct StreamPair {
    std::uint64_t first = 0, second = 0;  ///< The lower id first.
    std::uint64_t both_ns = 0;
    double share_of_shorter = 0;  ///< Of the busy time of the stream that was busy for less.
};

/// Two kinds of work, and the time during which both ran.
struct KindOverlap {
    const char* kind;           ///< "copies", "communication"
    const char* beside;         ///< "compute", "copies"
    std::uint64_t kind_ns = 0;  ///< Length of the union of `kind`.
    std::uint64_t beside_ns = 0;
    std::uint64_t both_ns = 0;
    double share_hidden = 0;  ///< both / kind
};

/// Pairs are looked for among so many streams, those with most time: their number grows with its square.
inline constexpr std::size_t kPairedStreams = 64;

struct DeviceConcurrency {
    std::uint64_t ordinal = 0;
    std::string name;  ///< Empty if the trace does not say.
    std::uint64_t activities = 0, untimed = 0;
    std::uint64_t sum_ns = 0;   ///< Of durations.
    std::uint64_t busy_ns = 0;  ///< Length of the union.
    double average = 0;         ///< Sum / union: activities in flight while any is.
    std::uint64_t peak = 0;
    std::vector<InFlight> levels;      ///< By level; those that occurred.
    std::vector<StreamUse> streams;    ///< Longest busy first.
    std::vector<StreamPair> pairs;     ///< Longest first; those that overlap.
    std::uint64_t not_paired = 0;      ///< Streams that no pair is looked for with: there are more than kPairedStreams.
    std::vector<KindOverlap> overlap;  ///< Of the kinds that ran.
    std::uint64_t communication = 0;   ///< Kernels that count as communication.
    std::uint64_t by_name_alone = 0;   ///< Of these, those that only their name says so of.
};

struct Concurrency {
    bool wall_known =
        false;  ///< The device's clock is related to the host's: else nothing is cut, and level 0 is not known.
    std::vector<DeviceConcurrency> devices;  ///< With an activity, by ordinal.
};

/// All times are in the host's clock, cut to the timeline's range, so that the levels add up to its wall time.
Concurrency concurrency(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis

// The part of a timeline that a person asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

struct Selection {
    std::optional<std::int64_t> from_ns, to_ns;  ///< Since the beginning of the recording.
    /// The same for calls, where they have a range of their own: a host runs ahead of the device.
    std::optional<std::int64_t> calls_from_ns, calls_to_ns;
    std::optional<std::uint64_t> device;
    std::optional<std::uint64_t> stream;  ///< CUPTI's id, as views show it.
    /// Kernels whose name it does not like are left out; copies and sets too where it is set. Called once for each name.
    std::function<bool(const std::string& mangled)> wants_kernel;

    [[nodiscard]] bool everything() const {
        return !from_ns && !to_ns && !device && !stream && wants_kernel == nullptr;
    }
};

/// A call and an NVTX range belong to the range of time in which they begin; an activity to every range in which it runs.
/// Calls and NVTX ranges are chosen by time alone. Calls that what is selected follows from are kept before
/// Timeline::first_call; other links to what was left out are kNone. An activity without a time is left out where a range is
/// asked for.
Timeline select(const Model& model, const Timeline& timeline, const Selection& selection);

}  // namespace gpuspy::analysis

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
    std::optional<std::uint64_t> device;
    std::optional<std::uint64_t> stream;  ///< CUPTI's id, as views show it.
    /// Kernels whose name it does not like are left out; copies and sets too where it is set. Called once for each name.
    std::function<bool(const std::string& mangled)> wants_kernel;

    [[nodiscard]] bool everything() const {
        return !from_ns && !to_ns && !device && !stream && wants_kernel == nullptr;
    }
};

/// A call, an NVTX range or an activity belongs to the range of time in which it begins. Calls and ranges are chosen by time alone; links to what was
/// left out are kNone. An activity without a time is left out where a range is asked for.
Timeline select(const Model& model, const Timeline& timeline, const Selection& selection);

}  // namespace gpuspy::analysis

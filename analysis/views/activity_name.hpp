// An activity as views name it.
#pragma once

#include <string>

#include "analysis/passes/copies.hpp"
#include "analysis/render/kernel_name.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {

/// A kernel's name in the form that was asked for; "[memcpy HtoD]", "[memset]".
inline std::string activity_name(const ViewInput& input, const DeviceActivity& activity) {
    switch (activity.record.kind) {
        case ActivityKind::kMemcpy:
            return "[memcpy " + direction_name(activity.record.copy_kind) + "]";
        case ActivityKind::kMemset:
            return "[memset]";
        case ActivityKind::kKernel:
            break;
    }
    return kernel_name(input.model.kernel_name(activity.record.name), input.options.names);
}

}  // namespace gpuspy::analysis

// What ran on the devices: CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY and _MEMSET.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/export/nsys_sqlite/context.hpp"

namespace gpuspy::analysis::nsys {

/// Returns how many device records have no row, since their time is not known.
std::uint64_t write_activities(const Context& context, const std::vector<std::uint32_t>& api_calls);

}  // namespace gpuspy::analysis::nsys

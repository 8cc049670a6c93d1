// What ran on the devices: CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY and _MEMSET.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/export/nsys_sqlite/context.hpp"

namespace gpuspy::analysis::nsys {

/// Records without a usable time get no row.
void write_activities(const Context& context, const std::vector<std::uint32_t>& api_calls);

}  // namespace gpuspy::analysis::nsys

// NVTX_EVENTS.
#pragma once

#include "analysis/export/nsys_sqlite/context.hpp"

namespace gpuspy::analysis::nsys {

/// Like Nsight Systems' export, without ranges there is no table.
void write_ranges(const Context& context);

}  // namespace gpuspy::analysis::nsys

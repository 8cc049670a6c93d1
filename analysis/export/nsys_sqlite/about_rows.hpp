// What the rest of the export is about: GPUs, process, threads, when it began, what is missing.
#pragma once

#include <cstdint>

#include "analysis/export/nsys_sqlite/context.hpp"

namespace gpuspy::analysis::nsys {

/// `untimed`: device records that have no row.
void write_about(const Context& context, std::uint64_t untimed);

}  // namespace gpuspy::analysis::nsys

// What the rest of the export is about: GPUs, process, threads, when it began, what is missing.
#pragma once

#include "analysis/export/nsys_sqlite/context.hpp"

namespace gpuspy::analysis::nsys {

void write_about(const Context& context);

}  // namespace gpuspy::analysis::nsys

// Kernels that the compiler's registration code, or cudaLibraryGetKernel, made known.
#pragma once

#include "tests/fakes/cudart/call.hpp"

namespace sim::runtime {

/// The driver's function for what the runtime calls a function: a registered host function or a kernel's handle.
cudaError_t find_function(const Table& cu, const void* function, CUfunction& found);

/// The registered host function of a driver function; the driver function itself if none is known.
const void* host_function_of(CUfunction function);

}  // namespace sim::runtime

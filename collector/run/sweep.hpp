// Runs a command once for each setting of its parameters, and has the traces compared.
#pragma once

#include "collector/run/sweep_options.hpp"

namespace gpuspy::run {

/// Returns the exit status. A setting that fails does not end the sweep; a signal does.
int sweep(const SweepOptions& options);

}  // namespace gpuspy::run

// Runs a command, records it, and brings what it left in order.
#pragma once

#include "collector/run/options.hpp"

namespace gpuspy::run {

/// The exit status that says: gpuspy-run itself failed.
inline constexpr int kOwnFailure = 125;

/// Says what it has to say on standard error. Returns the exit status.
int record(const Options& options);

}  // namespace gpuspy::run

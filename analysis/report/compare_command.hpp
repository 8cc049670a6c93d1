// `gpuspy-report compare A.bin B.bin`: traces side by side.
#pragma once

#include "analysis/report/subcommand.hpp"

namespace gpuspy::report {

Subcommand add_compare_command(CLI::App& app);

}  // namespace gpuspy::report

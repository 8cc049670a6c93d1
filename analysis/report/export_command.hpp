// `gpuspy-report export`: a trace as a file that other tools open.
#pragma once

#include "analysis/report/subcommand.hpp"

namespace gpuspy::report {

Subcommand add_export_command(CLI::App& app);

}  // namespace gpuspy::report

// The command line of `gpuspy-run sweep`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "collector/run/sweep_plan.hpp"

namespace gpuspy::run {

struct SweepOptions {
    std::vector<Parameter> parameters;
    std::vector<std::string> command;                ///< As typed.
    std::vector<Setting> settings;                   ///< The product of the parameters' values.
    std::vector<std::vector<std::string>> commands;  ///< By setting.
    std::vector<double> images;                      ///< By setting, of one run; empty: not known.
    std::string folder;                              ///< As typed; "": not given.
    std::string page;                                ///< The comparison as HTML; "": not wanted.
    std::size_t repeat = 1;
    std::string device_timing;  ///< "0", "1", or "": not given.
    bool no_children = false;
    bool quiet = false;
};

/// Whether the first word is "sweep": a program of that name is run by `gpuspy-run -- sweep`.
bool is_sweep(int argc, const char* const* argv);

/// `argv[0]` is "sweep". True: `options` hold. False: all is said; end with `status`.
bool read_sweep_options(int argc, const char* const* argv, SweepOptions* options, int* status);

}  // namespace gpuspy::run

// The command line of gpuspy-run.
#pragma once

#include <string>
#include <vector>

namespace gpuspy::run {

struct Options {
    std::string output;         ///< As typed; "": not given.
    std::string device_timing;  ///< "0", "1", or "": not given.
    std::string last;           ///< What to keep (sink/kept_limit.hpp); "": not given.
    std::string check;          ///< The program to check; "": none.
    bool report = false;
    bool quiet = false;
    bool follow = false;  ///< The default, said.
    bool no_children = false;
    std::vector<std::string> command;
};

/// True: `options` hold. False: all is said; end with `status`.
bool read_options(int argc, const char* const* argv, Options* options, int* status);

}  // namespace gpuspy::run

// Commands of gpuspy-report that take more than one trace, or write something else than a report.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace gpuspy::report {

struct Subcommand {
    const CLI::App* app;       ///< Says whether it was chosen.
    std::function<int()> run;  ///< The exit status. Exceptions are the caller's to report.
};

}  // namespace gpuspy::report

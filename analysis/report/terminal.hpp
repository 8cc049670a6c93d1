// What standard output can show.
#pragma once

#include <cstddef>

namespace gpuspy::report {

struct Terminal {
    std::size_t columns = 100;  ///< Where it is no terminal too.
    bool colour = false;        ///< A terminal, and NO_COLOR (no-color.org) is not set.
};

Terminal standard_output();
bool standard_output_is_terminal();

}  // namespace gpuspy::report

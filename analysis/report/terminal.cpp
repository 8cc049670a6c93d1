#include "analysis/report/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace gpuspy::report {

bool standard_output_is_terminal() {
    return ::isatty(STDOUT_FILENO) != 0;
}

Terminal standard_output() {
    Terminal terminal;
    if (!standard_output_is_terminal()) {
        return terminal;
    }
    // Tables have columns that do not give way: a narrower line breaks where the terminal breaks it.
    constexpr std::size_t kLeastColumns = 80;
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
        terminal.columns = std::max<std::size_t>(size.ws_col, kLeastColumns);
    }
    const char* no_colour = std::getenv("NO_COLOR");
    const char* kind = std::getenv("TERM");
    const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
    terminal.colour = (no_colour == nullptr || *no_colour == '\0') && !dumb;
    return terminal;
}

}  // namespace gpuspy::report

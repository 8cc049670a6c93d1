#include "analysis/report/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "analysis/render/display_text.hpp"

namespace gpuspy::report {
namespace {

constexpr const char* kWipe = "\r\x1b[K";

}  // namespace

Progress::Progress(std::string what, const ProgressTiming& timing)
    : what_(std::move(what)),
      timing_(timing),
      terminal_(::isatty(STDERR_FILENO) != 0),
      next_(Clock::now() + timing.first) {}

Progress::~Progress() {
    if (shown_) {
        fmt::print(stderr, "{}", kWipe);
        std::fflush(stderr);
    }
}

void Progress::tell(std::uint64_t done, std::uint64_t all) {
    if (!terminal_ || all == 0 || Clock::now() < next_) {
        return;
    }
    shown_ = true;
    next_ = Clock::now() + timing_.between;
    fmt::print(stderr, "{}reading {}: {:.0f} %", kWipe, analysis::cut_middle(analysis::printable(what_), 60),
               100.0 * static_cast<double>(done) / static_cast<double>(all));
    std::fflush(stderr);
}

}  // namespace gpuspy::report

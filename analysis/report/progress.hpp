// How far a long reading is, for a person who waits at a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gpuspy::report {

/// A line on standard error that is written over and wiped in the end. Nothing where that is no terminal, and nothing
/// before a second has passed.
class Progress {
public:
    explicit Progress(std::string what);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void tell(std::uint64_t done, std::uint64_t all);

private:
    using Clock = std::chrono::steady_clock;

    std::string what_;
    bool terminal_;
    bool shown_ = false;
    Clock::time_point next_;
};

}  // namespace gpuspy::report

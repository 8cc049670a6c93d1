// How far a long reading is, for a person who waits at a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gpuspy::report {

/// When something is said.
struct ProgressTiming {
    std::chrono::milliseconds first{1000};   ///< Not before so much has passed.
    std::chrono::milliseconds between{200};  ///< Nor again before that.
};

/// A line on standard error that is written over and wiped in the end. Nothing where that is no terminal.
class Progress {
public:
    explicit Progress(std::string what, const ProgressTiming& timing = {});
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void tell(std::uint64_t done, std::uint64_t all);

private:
    using Clock = std::chrono::steady_clock;

    std::string what_;
    ProgressTiming timing_;
    bool terminal_;
    bool shown_ = false;
    Clock::time_point next_;
};

}  // namespace gpuspy::report

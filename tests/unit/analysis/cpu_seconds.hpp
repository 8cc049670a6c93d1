// How long something computes: the processor's time, which other programs of the machine do not add to.
#pragma once

#include <ctime>

namespace gpuspy::test {

template <class Work>
double cpu_seconds(const Work& work) {
    const auto now = [] {
        timespec time{};
        ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
    };
    const double begin = now();
    work();
    return now() - begin;
}

/// What takes less is not quadratic, sanitized too; the tests that ask are made so that a quadratic way takes over a minute.
inline constexpr double kNotQuadraticS = 20;

}  // namespace gpuspy::test

// Launches at a rate: paced_calls RATE SECONDS THREADS. RATE is of all threads, a second. Prints how many it made, and the seconds it took.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/bench/hooks/calls.hpp"

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: paced_calls RATE SECONDS THREADS\n");
        return 2;
    }
    using Clock = std::chrono::steady_clock;
    using Seconds = std::chrono::duration<double>;
    constexpr int kBurst = 100;
    const int threads = std::atoi(argv[3]);
    const long bursts = std::lround(std::atof(argv[1]) * std::atof(argv[2]) / threads / kBurst);
    const Seconds pause(kBurst * threads / std::atof(argv[1]));
    bench::launch_by_runtime();  // the recording begins
    const Clock::time_point begin = Clock::now();
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
        running.emplace_back([&] {
            for (long burst = 0; burst < bursts; ++burst) {
                for (int call = 0; call < kBurst; ++call) bench::launch_by_runtime();
                // It spins: a sleep is longer than the pause.
                while (Clock::now() - begin < pause * static_cast<double>(burst + 1)) {
                }
            }
        });
    }
    for (std::thread& thread : running) thread.join();
    std::printf("%ld %.3f\n", bursts * kBurst * threads, Seconds(Clock::now() - begin).count());
}

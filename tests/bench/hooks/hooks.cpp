// Time of a call, with whatever is preloaded (Google Benchmark; its options). tests/bench/hooks/times.py runs it and takes the difference.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "collector/ring/clock.hpp"
#include "tests/bench/hooks/calls.hpp"

namespace {

/// What a ring of 1 MiB holds several times: none is dropped.
constexpr int kBurst = 2000;
constexpr int kBursts = 40;
constexpr std::chrono::milliseconds kPause{4};

/// Calls come in bursts, as a framework's do; between them the ring is emptied, out of the clock.
void run(benchmark::State& state, void (*make)()) {
    using Clock = std::chrono::steady_clock;
    // Before the clock runs, once around the ring: its pages are there then.
    constexpr int kWarmUpBursts = 10;
    for (int i = 0; i < kWarmUpBursts * kBurst; ++i) {
        if (i % kBurst == 0) std::this_thread::sleep_for(kPause);
        make();
    }
    for (auto _ : state) {
        std::this_thread::sleep_for(kPause);
        const Clock::time_point begin = Clock::now();
        for (int i = 0; i < kBurst; ++i) make();
        state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count());
    }
}

/// What a recorded call cannot do without: the least that it can take.
void read_counter_twice(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(gpuspy::ring::ticks());
        benchmark::DoNotOptimize(gpuspy::ring::ticks());
    }
}

}  // namespace

int main(int argc, char** argv) {
    for (const bench::Call& call : bench::kCalls) {
        benchmark::RegisterBenchmark(call.name, run, call.make)
            ->UseManualTime()
            ->Iterations(kBursts)
            ->ThreadRange(1, 2);
    }
    benchmark::RegisterBenchmark("two_time_stamps", read_counter_twice)->Iterations(1'000'000);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}

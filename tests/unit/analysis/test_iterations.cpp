// Periods of sequences, and the iterations that are made of them.
#include <catch2/catch.hpp>

#include "analysis/passes/iterations.hpp"
#include "analysis/passes/period.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::IterationKind;
using analysis::Iterations;
using analysis::Period;

namespace {

using Sequence = std::vector<std::uint32_t>;

Period period_of(const Sequence& sequence) {
    return analysis::find_period(sequence, Sequence(sequence.size(), 1));
}

/// `lead`, then `round` so many times.
Sequence repeated(const Sequence& lead, const Sequence& round, std::size_t times) {
    Sequence all = lead;
    for (std::size_t i = 0; i < times; ++i) {
        all.insert(all.end(), round.begin(), round.end());
    }
    return all;
}

/// Launches `kernels` (function handles), 10 ns each and 20 ns apart, from `at` on; each runs `duration` ns on the device,
/// from 1,000 ns after `at`.
class Program {
public:
    explicit Program(TraceBuilder& trace) : trace_(trace) {
        for (const std::uint64_t handle : {0xf1U, 0xf2U, 0xf3U}) {
            trace_.name(kStart, handle, "k" + std::to_string(handle));
        }
    }

    void step(std::uint64_t at, const std::vector<std::uint64_t>& kernels, std::uint64_t duration = 10) {
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            ++correlation_;
            trace_.call({.api = driver_launch(),
                         .begin = kStart + at + 20 * i,
                         .end = kStart + at + 20 * i + 10,
                         .correlation = correlation_,
                         .caller = 0x5100,
                         .function = kernels[i]});
            trace_.activity({.name = "k" + std::to_string(kernels[i]),
                             .start = on_device(kStart + at + 1'000 + i * duration),
                             .duration = duration,
                             .correlation = correlation_});
        }
    }

private:
    TraceBuilder& trace_;
    std::uint64_t correlation_ = 0;
};

Iterations found_in(TraceBuilder& trace) {
    const auto model = timeline_of(trace);
    return analysis::iterations(*model, *model->timeline);
}

}  // namespace

TEST_CASE("a period: one symbol, several, with repeats inside, after a lead") {
    CHECK(period_of(repeated({}, {7}, 20)).length == 1);
    CHECK(period_of(repeated({}, {1, 2, 3}, 10)).length == 3);
    CHECK(period_of(repeated({}, {1, 1, 1, 2, 1, 1, 1, 3}, 10)).length == 8);
    const Period late = period_of(repeated({9, 8, 9, 8, 7}, {1, 2, 3, 4, 2, 3}, 10));
    CHECK(late.length == 6);
    CHECK(late.agreement == 1.0);
}

TEST_CASE("a sequence without a period has none") {
    CHECK(period_of({}).length == 0);
    CHECK(period_of({1}).length == 0);
    CHECK(period_of({1, 2, 3, 4, 5, 6, 7, 8}).length == 0);
    CHECK(period_of({1, 2, 3, 4, 1, 2, 3, 4}).length == 0);  // Twice is no habit.
    Sequence irregular;
    std::uint32_t state = 1;
    for (int i = 0; i < 1000; ++i) {
        state = state * 1'664'525U + 1'013'904'223U;
        irregular.push_back(state >> 24);
    }
    CHECK(period_of(irregular).length == 0);
}

TEST_CASE("a round that differs now and then leaves the period as it is") {
    Sequence all = repeated({}, {1, 2, 3, 4, 5, 6, 7, 8}, 40);
    all.insert(all.begin() + 201, {50, 51, 52});
    const Period period = period_of(all);
    CHECK(period.length == 8);
    CHECK(period.agreement > 0.9);
    CHECK(period.agreement < 1.0);
    const auto rounds = analysis::find_rounds(all, period, all.size() - 8);
    CHECK(rounds.size() == 39);  // The one that was broken is not found again; it belongs to the one before it.
}

TEST_CASE("weights decide what counts") {
    // Many launches of a start that never repeats, then a few of something heavy.
    Sequence all;
    for (std::uint32_t i = 0; i < 300; ++i) {
        all.push_back(1000 + i);
    }
    Sequence weights(300, 1);
    for (int i = 0; i < 12; ++i) {
        all.push_back(1);
        weights.push_back(200);
    }
    CHECK(analysis::find_period(all, Sequence(all.size(), 1)).length == 0);
    CHECK(analysis::find_period(all, weights).length == 1);
}

TEST_CASE("rounds begin where the place that was asked for comes again; a short rest is none") {
    const Sequence all = repeated({5, 6}, {1, 2, 3, 4}, 5);
    Sequence with_rest = all;
    with_rest.insert(with_rest.end(), {1});
    CHECK(analysis::find_rounds(with_rest, {4, 1.0}, 10) == std::vector<std::size_t>{2, 6, 10, 14, 18});
    CHECK(analysis::find_rounds(all, {4, 1.0}, 20).empty());  // Not a whole round.
    CHECK(analysis::find_rounds(all, {}, 0).empty());
}

TEST_CASE("iterations: warm-up, steady state, an outlier") {
    TraceBuilder trace = begun_trace();
    Program program(trace);
    program.step(1'000, {0xf3, 0xf1, 0xf2}, 500);  // Takes long, and has a launch of its own before.
    for (std::uint64_t i = 0; i < 10; ++i) {
        program.step(10'000 + 1'000 * i + (i >= 6 ? 900 : 0), {0xf1, 0xf2}, 10);
    }
    trace.end(kStart + 900'000);
    const Iterations found = found_in(trace);
    REQUIRE(found.found);
    CHECK(found.launches == 2);
    REQUIRE(found.rows.size() == 11);
    CHECK(found.median_ns == 1'000);
    CHECK(found.rows[0].kind == IterationKind::kWarmUp);
    CHECK(found.rows[0].gpu_ns == 1'000);
    for (const std::size_t row : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 10U}) {
        CAPTURE(row);
        CHECK(found.rows[row].kind == IterationKind::kSteady);
        CHECK(found.rows[row].launches == 2);
        CHECK(found.rows[row].kernels == 2);
        CHECK(found.rows[row].gpu_ns == 20);
        CHECK(found.rows[row].busy_ns == 20);
        CHECK(found.rows[row].regular);
    }
    CHECK(found.rows[6].kind == IterationKind::kOutlier);
    CHECK(found.rows[6].duration_ns() == 1'900);
    CHECK(found.rows[10].duration_ns() == 20);  // To the end of its last kernel.
    CHECK(found.steady_begin_ns() == static_cast<std::int64_t>(kStart + kHostOffset + 11'000));
    CHECK(found.steady_end_ns() == static_cast<std::int64_t>(kStart + kHostOffset + 20'900 + 20));
}

TEST_CASE("a wait counts in the iteration in which it begins") {
    TraceBuilder trace = begun_trace();
    Program program(trace);
    for (std::uint64_t i = 0; i < 6; ++i) {
        program.step(10'000 + 1'000 * i, {0xf1, 0xf2});
        trace.call({.api = device_sync(),
                    .begin = kStart + 10'000 + 1'000 * i + 100,
                    .end = kStart + 10'000 + 1'000 * i + 400,
                    .caller = 0x5100});
    }
    trace.end(kStart + 900'000);
    const Iterations found = found_in(trace);
    REQUIRE(found.rows.size() == 6);
    for (std::size_t row = 0; row + 1 < found.rows.size(); ++row) {
        CHECK(found.rows[row].sync_ns == 300);
    }
    CHECK(found.rows.back().sync_ns == 0);  // What follows the last launch is the program's end.
}

TEST_CASE("captured and failed launches make no iteration; without a habit there are none") {
    TraceBuilder trace = begun_trace();
    for (std::uint64_t i = 0; i < 10; ++i) {
        trace.call({.api = driver_launch(),
                    .begin = kStart + 100 * i,
                    .end = kStart + 100 * i + 10,
                    .caller = 0x5100,
                    .function = 0xf1,
                    .launch_id = i + 1,
                    .flags = abi::kCallCaptured});
    }
    trace.end(kStart + 900'000);
    const Iterations found = found_in(trace);
    CHECK_FALSE(found.found);
    CHECK(found.rows.empty());
    CHECK(found.steady_begin_ns() == 0);
    CHECK(found.steady_end_ns() == 0);
}

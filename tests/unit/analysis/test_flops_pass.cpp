// From executions of known work to rates, intensity and utilisation. Numbers are worked out by hand.
#include <catch2/catch.hpp>

#include "analysis/passes/flops.hpp"

using namespace gpuspy::analysis;

namespace {

/// A device that does 1,000 FLOP/s in FP16, 100 in FP32, and moves 10 bytes a second.
FlopsDevice device(std::uint64_t kernel_ns, std::uint64_t busy_ns) {
    FlopsDevice device;
    device.name = "gpu";
    device.peaks.flops[static_cast<std::size_t>(MathType::kFp16)].derived = 1'000;
    device.peaks.flops[static_cast<std::size_t>(MathType::kFp32)].datasheet = 100;
    device.peaks.bytes.derived = 10;
    device.kernel_ns = kernel_ns;
    device.busy_ns = busy_ns;
    return device;
}

WorkExecution known(std::uint64_t flops, MathType type, std::uint64_t bytes, std::uint64_t gpu_ns) {
    WorkExecution execution;
    execution.library = "cudnn";
    execution.api = "cudnnConvolutionForward";
    execution.answer = WorkAnswer::known({flops, type, bytes, Operation::kConvolutionForward});
    execution.gpu_ns = execution.kernel_ns = gpu_ns;
    execution.kernels = 1;
    return execution;
}

constexpr std::uint64_t kSecond = 1'000'000'000;

}  // namespace

TEST_CASE("achieved FLOP/s over wall and busy, and utilisation by time at the peak of each type") {
    FlopsInput input;
    input.wall_ns = 10 * kSecond;
    input.devices = {device(8 * kSecond, 4 * kSecond)};
    input.executions = {known(1'000, MathType::kFp16, 10, 2 * kSecond), known(100, MathType::kFp32, 5, 2 * kSecond)};
    WorkExecution zero = known(0, MathType::kOther, 0, kSecond);
    zero.answer = WorkAnswer::zero();
    WorkExecution unknown = zero;
    unknown.answer = WorkAnswer::unknown(Unknown::kNoFormula);
    input.executions.push_back(zero);
    input.executions.push_back(unknown);
    const auto report = flops_report(input);
    REQUIRE(report.totals.size() == 1);
    const FlopsTotal& total = report.totals[0];
    CHECK(total.flops == 1'100U);
    CHECK(total.per_s_of_wall == Approx(110));
    CHECK(total.per_s_of_busy == Approx(275));
    CHECK(total.utilisation_of_wall == Approx(0.2));  // 1 s at each peak, of 10 s
    CHECK(total.utilisation_of_busy == Approx(0.5));
    CHECK(total.covered == Approx(0.5));
    CHECK(total.time.known_ns == 4 * kSecond);
    CHECK(total.time.zero_ns == kSecond);
    CHECK(total.time.unknown_ns == kSecond);
    CHECK(total.time.other_ns == 2 * kSecond);
    REQUIRE(report.unknown.size() == 1);
    CHECK(report.unknown[0].share_of_kernels == Approx(0.125));
}

TEST_CASE("rows by call, operation and type: intensity, share of the peak and of the roof") {
    FlopsInput input;
    input.wall_ns = 10 * kSecond;
    input.devices = {device(8 * kSecond, 8 * kSecond)};
    input.executions = {known(1'000, MathType::kFp16, 20, 3 * kSecond), known(1'000, MathType::kFp16, 20, 5 * kSecond),
                        known(100, MathType::kFp32, 5, 2 * kSecond)};
    const auto rows = flops_report(input).rows;
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].executions == 2);
    CHECK(rows[0].type == MathType::kFp16);
    CHECK(rows[0].flops == 2'000);
    CHECK(rows[0].per_s == Approx(250));
    CHECK(rows[0].intensity == Approx(50));
    CHECK(rows[0].share_of_peak == Approx(0.25));
    CHECK(rows[0].share_of_roof == Approx(0.5));  // 40 bytes take 4 s, the FLOPs 2
    CHECK(rows[0].memory_bound == true);
    CHECK(rows[1].share_of_peak == Approx(0.5));
    CHECK(rows[1].share_of_roof == Approx(0.5));
    CHECK(rows[1].memory_bound == false);
    const auto types = flops_report(input).types;
    REQUIRE(types.size() == 2);
    CHECK(types[0].share_of_peak == Approx(0.25));
    CHECK(types[1].peak.datasheet == 100);
}

TEST_CASE("nothing covered is not known, and not 0") {
    FlopsInput input;
    input.wall_ns = kSecond;
    input.devices = {device(kSecond, kSecond)};
    const auto total = flops_report(input).totals[0];
    CHECK_FALSE(total.flops);
    CHECK_FALSE(total.per_s_of_wall);
    CHECK_FALSE(total.utilisation_of_wall);
    CHECK(total.covered == Approx(0));
    input.devices = {device(0, 0)};
    CHECK_FALSE(flops_report(input).totals[0].covered);
    CHECK(flops_report({}).totals.empty());
}

TEST_CASE("a type without a known peak makes the utilisation unknown, and leaves the rest") {
    FlopsInput input;
    input.wall_ns = 10 * kSecond;
    input.devices = {device(4 * kSecond, 4 * kSecond)};
    input.executions = {known(1'000, MathType::kFp16, 10, 2 * kSecond), known(100, MathType::kFp8, 5, 2 * kSecond)};
    const auto report = flops_report(input);
    CHECK(report.totals[0].per_s_of_wall == Approx(110));
    CHECK_FALSE(report.totals[0].utilisation_of_wall);
    CHECK(report.rows[0].share_of_peak == Approx(0.5));
    CHECK_FALSE(report.rows[1].share_of_peak);
    CHECK_FALSE(report.rows[1].share_of_roof);
    CHECK(report.rows[1].per_s == Approx(50));
}

TEST_CASE("executions without times count their FLOPs, and no rate") {
    FlopsInput input;
    input.wall_ns = 10 * kSecond;
    input.devices = {device(0, 0)};
    input.executions = {known(1'000, MathType::kFp16, 10, 0)};
    input.executions[0].timed = false;
    const auto report = flops_report(input);
    CHECK(report.totals[0].flops == 1'000U);
    CHECK(report.totals[0].per_s_of_wall == Approx(100));
    CHECK_FALSE(report.totals[0].per_s_of_busy);
    CHECK(report.rows[0].flops == 1'000);
    CHECK_FALSE(report.rows[0].per_s);
    CHECK_FALSE(report.rows[0].share_of_peak);
}

TEST_CASE("of several devices the utilisation is the mean over them") {
    FlopsInput input;
    input.wall_ns = 10 * kSecond;
    input.devices = {device(4 * kSecond, 4 * kSecond), device(4 * kSecond, 4 * kSecond)};
    input.executions = {known(2'000, MathType::kFp16, 10, 4 * kSecond), known(1'000, MathType::kFp16, 10, 4 * kSecond)};
    input.executions[1].device = 1;
    const auto totals = flops_report(input).totals;
    REQUIRE(totals.size() == 3);
    CHECK(totals[0].utilisation_of_wall == Approx(0.2));
    CHECK(totals[1].utilisation_of_wall == Approx(0.1));
    CHECK(totals[2].device == "all");
    CHECK(totals[2].utilisation_of_wall == Approx(0.15));
    CHECK(totals[2].per_s_of_wall == Approx(300));
    CHECK(totals[2].utilisation_of_busy == Approx(3.0 / 8));
}

TEST_CASE("sums beyond 64 bits do not wrap") {
    FlopsInput input;
    input.wall_ns = 10 * kSecond;
    input.devices = {device(4 * kSecond, 4 * kSecond)};
    constexpr std::uint64_t kMost = 15'000'000'000'000'000'000U;
    input.executions = {known(kMost, MathType::kFp16, kMost, 2 * kSecond),
                        known(kMost, MathType::kFp16, kMost, 2 * kSecond)};
    const auto report = flops_report(input);
    CHECK(report.totals[0].flops == Approx(3e19));
    CHECK(report.totals[0].per_s_of_wall == Approx(3e18));
    CHECK(report.rows[0].flops == Approx(3e19));
    CHECK(report.rows[0].least_bytes == Approx(3e19));
    CHECK(report.rows[0].per_s == Approx(3e19 / 4));
    CHECK(report.types[0].flops == Approx(3e19));
}

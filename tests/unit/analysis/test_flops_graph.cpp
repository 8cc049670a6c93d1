// Work of cuDNN's execution plans, from the attributes of the descriptors that they were made of. Numbers by hand.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/unit/analysis/cudnn_graphs.hpp"

using namespace gpuspy::test;
using namespace gpuspy::test::cudnn_graphs;
using gpuspy::analysis::MathType;
using gpuspy::analysis::Operation;
using gpuspy::analysis::Unknown;
using gpuspy::analysis::WorkAnswer;
using Kind = WorkAnswer::Kind;

TEST_CASE("FLOPs of a plan: a convolution whose configuration the heuristics chose") {
    ScriptedCalls call;
    convolution_plan(call);
    const auto answer = execute(call);
    REQUIRE(answer.kind == Kind::kKnown);
    CHECK(answer.work.flops == kFlops);
    CHECK(answer.work.least_bytes == kBytes);
    CHECK(answer.work.type == MathType::kFp32OrTf32);
    CHECK(answer.work.operation == Operation::kConvolutionForward);
    CHECK_FALSE(answer.into_graph);
    const auto populated = call("cudnnBackendPopulateCudaGraph", {{"executionPlan", kPlan}});
    CHECK(populated.work.flops == kFlops);
    CHECK(populated.into_graph);
}

TEST_CASE("FLOPs of a plan by an engine that the program chose: of that engine's graph, not the last one asked about") {
    ScriptedCalls call;
    convolution_plan(call);
    call.link(kEngine, kEngineGraph, {kGraph});
    call.set(kEngine, 1301, {5});
    call.link(kConfig, kConfigEngine, {kEngine});
    // Another graph, asked about since.
    tensor(call, 0x900, {1, 64, 28, 28});
    convolution_forward(call, 0x901, kX, kW, 0x900);
    call.link(0x902, kOperations, {0x901});
    call.link(kHeuristics, kHeuristicsGraph, {0x902});
    call.link(kPlan2, kPlanConfig, {kConfig});
    CHECK(execute(call, kPlan2).work.flops == kFlops);
}

TEST_CASE("a plan's work outlives its descriptors, whose addresses stand for others") {
    ScriptedCalls call;
    convolution_plan(call, kPlan, 4);
    convolution_plan(call, kPlan2, 1);  // every descriptor but the plan at the same address
    CHECK(execute(call, kPlan).work.flops == kFlops);
    CHECK(execute(call, kPlan2).work.flops == kFlops / 4);
    // An address that was a tensor's is now an operation's.
    tensor(call, 0x900, {2, 64, 28, 28});
    convolution_forward(call, kX, 0x900, kW, 0x900);
    CHECK(execute(call, kPlan).work.flops == kFlops);
    // A plan's address goes to another plan.
    convolution_plan(call, kPlan, 8);
    CHECK(execute(call, kPlan).work.flops == 2 * kFlops);
}

TEST_CASE("a descriptor at a used address has nothing of the one before it") {
    ScriptedCalls call;
    tensor(call, kY, {4, 64, 28, 28});
    call.set(kY, kVectorCount, {4});
    call.set(kY, kByValue, {1});
    call.link(0x900, 705, {kY});
    convolution_plan(call);
    CHECK(execute(call).work.flops == kFlops);
    CHECK(execute(call).work.least_bytes == kBytes);
}

TEST_CASE("the graph that heuristics were asked about is each thread's own") {
    ScriptedCalls call;
    convolution_plan(call, kPlan, 4);
    call.link(kHeuristics, kHeuristicsGraph, {kGraph});
    call.thread = 1;
    tensor(call, 0x900, {1, 64, 28, 28});
    convolution_forward(call, 0x901, kX, kW, 0x900);
    call.link(0x902, kOperations, {0x901});
    call.link(0x903, kHeuristicsGraph, {0x902});
    call.thread = 0;
    call.link(kPlan2, kPlanConfig, {kConfig});
    CHECK(execute(call, kPlan2).work.flops == kFlops);
}

TEST_CASE("FLOPs of the gradients of a convolution, grouped, in three dimensions, in vectors of channels") {
    ScriptedCalls call;
    tensor(call, kX, {4, 32, 28, 28}, kHalf);
    tensor(call, kW, {64, 8, 3, 3}, kHalf);  // four groups
    tensor(call, kY, {4, 64, 28, 28}, kHalf);
    call.link(kOperation, 709, {kW});
    call.link(kOperation, 710, {kX});
    call.link(kOperation, 711, {kY});
    plan_by_heuristics(call, {kOperation});
    CHECK(execute(call).work.flops == kFlops / 4);
    CHECK(execute(call).work.operation == Operation::kConvolutionBackwardData);
    CHECK(execute(call).work.type == MathType::kFp16);

    call.link(kSecondOperation, 715, {kW});
    call.link(kSecondOperation, 716, {kX});
    call.link(kSecondOperation, 717, {kY});
    plan_by_heuristics(call, {kSecondOperation});
    CHECK(execute(call).work.flops == kFlops / 4);
    CHECK(execute(call).work.operation == Operation::kConvolutionBackwardFilter);

    tensor(call, kX, {2, 8, 8, 16, 16});
    tensor(call, kW, {16, 8, 3, 3, 3});
    tensor(call, kY, {2, 16, 6, 14, 14});
    convolution_forward(call, kOperation, kX, kW, kY);
    plan_by_heuristics(call, {kOperation});
    CHECK(execute(call).work.flops == 16'257'024);  // 2 x 37,632 x 216

    // 32 channels as 8 vectors of 4, 64 as 16.
    constexpr std::int64_t kInt8 = 3;
    tensor(call, kX, {4, 8, 28, 28}, kInt8);
    tensor(call, kW, {64, 8, 3, 3}, kInt8);
    tensor(call, kY, {4, 16, 28, 28}, kInt8);
    for (const std::int64_t each : {kX, kW, kY}) call.set(each, kVectorCount, {4});
    convolution_forward(call, kOperation, kX, kW, kY);
    plan_by_heuristics(call, {kOperation});
    CHECK(execute(call).work.flops == kFlops);
    CHECK(execute(call).work.type == MathType::kInt8);
    CHECK(execute(call).work.least_bytes == kBytes / 4);
}

namespace {

void matmul(ScriptedCalls& call, std::int64_t operation, std::int64_t a, std::int64_t b, std::int64_t c) {
    call.set(0xffe, 1500, {kFloat});
    call.link(operation, 1520, {a});
    call.link(operation, 1521, {b});
    call.link(operation, 1522, {c});
    call.link(operation, 1523, {0xffe});
}

/// Attention as frameworks spell it out: Q K', scaled, masked, softmax, V; b 2, h 8, s 512, d 64.
std::vector<std::int64_t> describe_attention(ScriptedCalls& call, bool causal) {
    const std::vector<std::int64_t> scores = {2, 8, 512, 512};
    enum : std::int64_t { kQ = 0x200, kK, kV, kO, kS, kRow, kColumn, kMask, kMasked, kSum, kP, kScale };
    tensor(call, kQ, {2, 8, 512, 64}, kHalf);
    tensor(call, kK, {2, 8, 64, 512}, kHalf);
    tensor(call, kV, {2, 8, 512, 64}, kHalf);
    tensor(call, kO, {2, 8, 512, 64}, kHalf);
    tensor(call, kScale, {1, 1, 1, 1});
    call.set(kScale, kByValue, {1});
    for (const std::int64_t each : {kS, kRow, kColumn, kMask, kMasked, kP}) tensor(call, each, scores, kFloat, true);
    tensor(call, kSum, {2, 8, 512, 1}, kFloat, true);
    std::vector<std::int64_t> operations = {0x300};
    matmul(call, 0x300, kQ, kK, kS);
    std::int64_t masked = kS;
    if (causal) {
        pointwise(call, 0x301, 501, kS, 0, kRow);
        pointwise(call, 0x302, 501, kS, 0, kColumn);
        pointwise(call, 0x303, 303, kRow, kColumn, kMask);
        pointwise(call, 0x304, 601, kS, kMask, kMasked);
        operations.insert(operations.end(), {0x301, 0x302, 0x303, 0x304});
        masked = kMasked;
    }
    call.set(0x400, 1600, {0});
    call.link(0x305, 1610, {masked});
    call.link(0x305, 1611, {kSum});
    call.link(0x305, 1612, {0x400});
    pointwise(call, 0x306, 6, masked, kSum, kP);
    matmul(call, 0x307, kP, kV, kO);
    operations.insert(operations.end(), {0x305, 0x306, 0x307});
    return operations;
}

}  // namespace

TEST_CASE("FLOPs of a graph of several operations: bias and activation add none; what stays on the chip no bytes") {
    ScriptedCalls call;
    tensor(call, kX, {4, 32, 28, 28});
    tensor(call, kW, {64, 32, 3, 3});
    tensor(call, kIntermediate, {4, 64, 28, 28}, kFloat, true);
    tensor(call, kBias, {1, 64, 1, 1});
    tensor(call, kY, {4, 64, 28, 28});
    convolution_forward(call, kOperation, kX, kW, kIntermediate);
    pointwise(call, kSecondOperation, 0, kIntermediate, kBias, kY);
    plan_by_heuristics(call, {kOperation, kSecondOperation});
    CHECK(execute(call).work.flops == kFlops);
    CHECK(execute(call).work.least_bytes == kBytes + 64 * 4);
    CHECK(execute(call).work.operation == Operation::kConvolutionForward);
    // Without the convolution it has no products.
    plan_by_heuristics(call, {kSecondOperation});
    CHECK(execute(call).kind == Kind::kZero);
}

TEST_CASE("FLOPs of attention as matrix products around a softmax: half of them under a causal mask") {
    for (const bool causal : {false, true}) {
        ScriptedCalls call;
        plan_by_heuristics(call, describe_attention(call, causal));
        const auto answer = execute(call);
        REQUIRE(answer.kind == Kind::kKnown);
        CHECK(answer.work.flops == (causal ? kAttentionFlops / 2 : kAttentionFlops));
        CHECK(answer.work.operation == Operation::kAttentionForward);
        CHECK(answer.work.type == MathType::kFp16);
        CHECK(answer.work.least_bytes == 4 * 524'288 * 2);  // Q, K, V and O
    }
}

TEST_CASE("FLOPs of the attention operations: forward 2 b h sq sk (d + dv), backward five products") {
    ScriptedCalls call;
    tensor(call, kX, {2, 8, 512, 64}, kHalf);
    tensor(call, kW, {2, 8, 1024, 64}, kHalf);
    tensor(call, kY, {2, 8, 1024, 128}, kHalf);
    call.link(kOperation, 2800, {kX});
    call.link(kOperation, 2801, {kW});
    call.link(kOperation, 2802, {kY});
    plan_by_heuristics(call, {kOperation});
    CHECK(execute(call).work.flops == 3'221'225'472);  // 2 x 2 x 8 x 512 x 1,024 x (64 + 128)
    CHECK(execute(call).work.operation == Operation::kAttentionForward);
    call.link(kSecondOperation, 2851, {kX});
    call.link(kSecondOperation, 2852, {kW});
    call.link(kSecondOperation, 2853, {kY});
    plan_by_heuristics(call, {kSecondOperation});
    CHECK(execute(call).work.flops == 7'516'192'768);  // 2 x 2 x 8 x 512 x 1,024 x (3 x 64 + 2 x 128)
    CHECK(execute(call).work.operation == Operation::kAttentionBackward);
    // Lengths of sequences that lie in device memory.
    tensor(call, kBias, {2, 1, 1, 1}, 4);
    call.link(kOperation, 2800, {kX});
    call.link(kOperation, 2801, {kW});
    call.link(kOperation, 2802, {kY});
    call.link(kOperation, 2809, {kBias});
    plan_by_heuristics(call, {kOperation});
    CHECK(execute(call).cause == Unknown::kSizesOnDevice);
}

TEST_CASE("plans of unknown work say why") {
    ScriptedCalls call;
    CHECK(execute(call).cause == Unknown::kNoPlan);
    call.link(kPlan, kPlanConfig, {kConfig});
    CHECK(execute(call).cause == Unknown::kNoDescriptor);  // no heuristics were asked
    convolution_plan(call);
    plan_by_heuristics(call, {kOperation, 0xdead});  // an operation that was not described
    CHECK(execute(call).cause == Unknown::kNoDescriptor);
    call.link(0xdead, 2902, {kX});  // grouped products of a mixture of experts: not known
    plan_by_heuristics(call, {kOperation, 0xdead});
    CHECK(execute(call).cause == Unknown::kOperation);
    call.set(kPlan, 405, {'{'});
    CHECK(execute(call).cause == Unknown::kNoPlan);
    tensor(call, kY, {});
    convolution_forward(call, kOperation, kX, kW, 0xbad);
    plan_by_heuristics(call, {kOperation});
    CHECK(execute(call).cause == Unknown::kNoDescriptor);
}

TEST_CASE("descriptors of a damaged trace make no chain") {
    ScriptedCalls call;
    constexpr std::int64_t kMany = 200'000;
    for (std::int64_t i = 1; i < kMany; ++i) {
        call.link(i, kOperations, {i - 1});
    }
    call.link(kHeuristics, kHeuristicsGraph, {kMany - 1});
    call.link(kPlan, kPlanConfig, {kConfig});
    CHECK(execute(call).kind == Kind::kUnknown);
}

TEST_CASE("an attribute that could not be set changes nothing") {
    ScriptedCalls call;
    convolution_plan(call);
    call.status = 3000;
    call.link(kPlan, kPlanConfig, {0xdead});
    call.status = 0;
    CHECK(execute(call).work.flops == kFlops);
}

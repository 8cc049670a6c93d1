// Work of cuDNN's execution plans, from the attributes of the descriptors that they were made of. Numbers by hand.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/unit/analysis/scripted_calls.hpp"

using namespace gpuspy::test;
using gpuspy::analysis::MathType;
using gpuspy::analysis::Operation;
using gpuspy::analysis::Unknown;
using gpuspy::analysis::WorkAnswer;
using Kind = WorkAnswer::Kind;

namespace {

constexpr std::int64_t kFloat = 0, kHalf = 2;
// Attributes, by cudnnBackendAttributeName_t.
constexpr std::int64_t kDataType = 901, kDimensions = 902, kStrides = 903, kVectorCount = 904, kVirtual = 907,
                       kByValue = 908;
constexpr std::int64_t kOperations = 801, kHeuristicsGraph = 201, kEngineGraph = 1300, kConfigEngine = 300,
                       kPlanConfig = 401;

/// Handles are addresses: any numbers. Each name here is used once unless a test reuses it.
enum Handle : std::int64_t {
    kX = 0x100,
    kW,
    kY,
    kBias,
    kIntermediate,
    kConvolution,
    kOperation,
    kSecondOperation,
    kGraph,
    kHeuristics,
    kEngine,
    kConfig,
    kPlan,
    kPlan2,
};

void tensor(ScriptedCalls& call, std::int64_t handle, const std::vector<std::int64_t>& dimensions,
            std::int64_t type = kFloat, bool is_virtual = false) {
    call.set(handle, kDataType, {type});
    call.set(handle, kDimensions, dimensions);
    call.set(handle, kStrides, dimensions);
    if (is_virtual) call.set(handle, kVirtual, {1});
}

void convolution_forward(ScriptedCalls& call, std::int64_t operation, std::int64_t x, std::int64_t w, std::int64_t y) {
    call.set(kConvolution, 100, {kFloat});
    call.set(kConvolution, 102, {1, 1});
    call.link(operation, 702, {kConvolution});
    call.link(operation, 704, {x});
    call.link(operation, 703, {w});
    call.link(operation, 705, {y});
}

/// As frameworks do: the heuristics choose the configuration, whose attributes are never set.
void plan_by_heuristics(ScriptedCalls& call, const std::vector<std::int64_t>& operations, std::int64_t plan = kPlan) {
    call.link(kGraph, kOperations, operations);
    call.link(kHeuristics, kHeuristicsGraph, {kGraph});
    call.link(plan, kPlanConfig, {kConfig});
}

/// x 4 x 32 x 28 x 28 -> y 4 x 64 x 28 x 28 by 3 x 3.
void convolution_plan(ScriptedCalls& call, std::int64_t plan = kPlan, std::int64_t batch = 4) {
    tensor(call, kX, {batch, 32, 28, 28});
    tensor(call, kW, {64, 32, 3, 3});
    tensor(call, kY, {batch, 64, 28, 28});
    convolution_forward(call, kOperation, kX, kW, kY);
    plan_by_heuristics(call, {kOperation}, plan);
}
constexpr std::uint64_t kFlops = 115'605'504;  // 2 x 200,704 x 288
constexpr std::uint64_t kBytes = 319'488 * 4;

WorkAnswer execute(ScriptedCalls& call, std::int64_t plan = kPlan) {
    return call("cudnnBackendExecute", {{"executionPlan", plan}});
}

}  // namespace

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

void pointwise(ScriptedCalls& call, std::int64_t operation, std::int64_t mode, std::int64_t x, std::int64_t b,
               std::int64_t y) {
    constexpr std::int64_t kPointwise = 0xfff;  // one address for all: each is used before the next is described
    call.set(kPointwise, 0, {mode});
    call.set(kPointwise, 1, {kFloat});
    call.link(operation, 750, {kPointwise});
    call.link(operation, 751, {x});
    if (b != 0) call.link(operation, 752, {b});
    call.link(operation, 753, {y});
}

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
constexpr std::uint64_t kAttentionFlops = 1'073'741'824;  // 2 x 2 x 8 x 512 x 512 x (64 + 64)

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

TEST_CASE("a graph of more operations than an older trace keeps is known; of more than are recorded it is said") {
    ScriptedCalls call;
    convolution_plan(call);
    plan_by_heuristics(call, std::vector<std::int64_t>(27, kOperation));
    CHECK(execute(call).work.flops == 27 * kFlops);
    const auto cut = [&call](const Api& api, std::int64_t count, std::size_t kept) {
        NamedArguments arguments = {{"descriptor", kGraph},
                                    {"attributeName", kOperations},
                                    {"attributeType", 15},
                                    {"arrayOfElements", std::vector<std::int64_t>(kept, kOperation)}};
        if (count != 0) arguments.emplace_back("count", count);
        call.as(api, arguments);
        call.link(kHeuristics, kHeuristicsGraph, {kGraph});
        call.link(kPlan, kPlanConfig, {kConfig});
        return execute(call);
    };
    const Api api = hooked("cudnnBackendSetAttribute");
    CHECK(cut(api, 28, 27).cause == Unknown::kNotKept);
    Api older = api;  // without the number of elements, and with 16 of them at most
    older.fields = "descriptor:0p attributeName:1!1000-1012 attributeName:1i attributeType:2i arrayOfElements:4B3,2";
    CHECK(cut(older, 0, 15).work.flops == 15 * kFlops);
    CHECK(cut(older, 0, 16).cause == Unknown::kNotKept);
}

TEST_CASE("heuristics asked about several graphs before any plan is made: each result is of its own graph") {
    ScriptedCalls call;
    const auto results = [&call](std::int64_t heuristics, const std::vector<std::int64_t>& configs) {
        call("cudnnBackendGetAttribute",
             {{"descriptor", heuristics}, {"attributeName", 202}, {"attributeType", 15}, {"arrayOfElements", configs}});
    };
    tensor(call, kX, {4, 32, 28, 28});
    tensor(call, kW, {64, 32, 3, 3});
    for (const std::int64_t batch :
         {4, 2, 1}) {  // Graphs, heuristics and configurations at 0x1?4, 0x1?2, 0x1?1 and so on.
        tensor(call, 0x1000 + batch, {batch, 64, 28, 28});
        convolution_forward(call, 0x1100 + batch, kX, kW, 0x1000 + batch);
        call.link(0x1200 + batch, kOperations, {0x1100 + batch});
        call.link(0x1300 + batch, kHeuristicsGraph, {0x1200 + batch});
    }
    for (const std::int64_t batch : {1, 4, 2}) results(0x1300 + batch, {0x1400 + batch, 0x1500 + batch});
    call.thread = 7;  // Plans are made by another thread.
    for (const std::int64_t batch : {2, 1, 4}) {
        call.link(0x1600 + batch, kPlanConfig, {0x1500 + batch});
        CHECK(execute(call, 0x1600 + batch).work.flops == kFlops / 4 * static_cast<std::uint64_t>(batch));
    }
    results(0x1301, {0x1404});  // The address of a configuration that is gone now holds one of another graph.
    call.link(kPlan, kPlanConfig, {0x1404});
    CHECK(execute(call).work.flops == kFlops / 4);
    CHECK(execute(call, 0x1604).work.flops == kFlops);
    results(0xdead, {0x1404});  // of heuristics that were described before the recording: nothing is known of it
}

TEST_CASE(
    "cuDNN's own attention node: a causal mask by operations of its graph halves it; blocks masked in device memory "
    "are unknown") {
    ScriptedCalls call;
    tensor(call, kX, {2, 8, 512, 64}, kHalf);
    tensor(call, kW, {2, 8, 512, 64}, kHalf);
    const auto attention_node = [&call] {
        call.link(kOperation, 2800, {kX});
        call.link(kOperation, 2801, {kW});
        call.link(kOperation, 2802, {kW});
    };
    attention_node();
    plan_by_heuristics(call, {kOperation});
    CHECK(execute(call).work.flops == kAttentionFlops);
    for (const std::int64_t each : {0x701, 0x702, 0x703}) tensor(call, each, {2, 8, 512, 512}, kFloat, true);
    pointwise(call, 0x801, 501, 0x703, 0, 0x701);
    pointwise(call, 0x802, 501, 0x703, 0, 0x702);
    pointwise(call, 0x803, 303, 0x701, 0x702, 0x703);
    attention_node();
    plan_by_heuristics(call, {0x801, 0x802, 0x803, kOperation});
    CHECK(execute(call).work.flops == kAttentionFlops / 2);
    CHECK(execute(call).work.operation == Operation::kAttentionForward);
    tensor(call, kBias, {2, 8, 4, 4}, 4);
    attention_node();
    call.link(kOperation, 2806, {kBias});
    plan_by_heuristics(call, {kOperation});
    CHECK(execute(call).cause == Unknown::kSizesOnDevice);
}

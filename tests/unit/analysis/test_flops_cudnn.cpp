// Work of cuDNN's calls with descriptors of their own (its interface up to version 7). Numbers are worked out by hand.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/unit/analysis/scripted_calls.hpp"

using namespace gpuspy::test;
using gpuspy::analysis::MathType;
using gpuspy::analysis::Operation;
using gpuspy::analysis::Unknown;
using gpuspy::analysis::WorkAnswer;
using Kind = WorkAnswer::Kind;

namespace {

constexpr std::int64_t kFloat = 0, kDouble = 1, kHalf = 2, kInt8x4 = 5;
constexpr std::int64_t kNchw = 0, kNhwc = 1, kNchwVectC = 2;
constexpr std::int64_t kX = 1, kW = 2, kConvolution = 3, kY = 4;

const NamedArguments kForward = {{"xDesc", kX}, {"wDesc", kW}, {"convDesc", kConvolution}, {"yDesc", kY}};
const NamedArguments kBackwardData = {{"dxDesc", kX}, {"wDesc", kW}, {"convDesc", kConvolution}, {"dyDesc", kY}};
const NamedArguments kBackwardFilter = {{"xDesc", kX}, {"dwDesc", kW}, {"convDesc", kConvolution}, {"dyDesc", kY}};

void tensor(ScriptedCalls& call, std::int64_t handle, std::int64_t type, std::int64_t format,
            const std::vector<std::int64_t>& nchw) {
    call("cudnnSetTensor4dDescriptor", {{"tensorDesc", handle},
                                        {"format", format},
                                        {"dataType", type},
                                        {"n", nchw[0]},
                                        {"c", nchw[1]},
                                        {"h", nchw[2]},
                                        {"w", nchw[3]}});
}

void filter(ScriptedCalls& call, std::int64_t type, std::int64_t format, const std::vector<std::int64_t>& kcrs) {
    call("cudnnSetFilter4dDescriptor", {{"filterDesc", kW},
                                        {"dataType", type},
                                        {"format", format},
                                        {"k", kcrs[0]},
                                        {"c", kcrs[1]},
                                        {"h", kcrs[2]},
                                        {"w", kcrs[3]}});
}

void convolution(ScriptedCalls& call, std::int64_t stride, std::int64_t dilation) {
    call("cudnnSetConvolution2dDescriptor", {{"convDesc", kConvolution},
                                             {"pad_h", 1},
                                             {"pad_w", 1},
                                             {"u", stride},
                                             {"v", stride},
                                             {"dilation_h", dilation},
                                             {"dilation_w", dilation},
                                             {"mode", 1},
                                             {"computeType", kFloat}});
}

/// x 4 x 32 x 28 x 28, filter 64 x 32 x 3 x 3 with padding 1: y 4 x 64 x 28 x 28.
void describe(ScriptedCalls& call, std::int64_t type = kFloat, std::int64_t format = kNchw) {
    tensor(call, kX, type, format, {4, 32, 28, 28});
    filter(call, type, format, {64, 32, 3, 3});
    convolution(call, 1, 1);
    tensor(call, kY, type, format, {4, 64, 28, 28});
}
constexpr std::uint64_t kFlops = 115'605'504;  // 2 x (4 x 64 x 28 x 28 = 200,704) x (32 x 3 x 3 = 288)
constexpr std::uint64_t kElements = 319'488;   // x 100,352, y 200,704, w 18,432

}  // namespace

TEST_CASE("FLOPs of a convolution: 2 N K P Q C R S, forward as by its gradients") {
    ScriptedCalls call;
    describe(call);
    struct Row {
        const char* name;
        NamedArguments arguments;
        Operation operation;
    };
    const Row rows[] = {
        {"cudnnConvolutionForward", kForward, Operation::kConvolutionForward},
        {"cudnnConvolutionBiasActivationForward", kForward, Operation::kConvolutionForward},
        {"cudnnConvolutionBackwardData", kBackwardData, Operation::kConvolutionBackwardData},
        {"cudnnConvolutionBackwardFilter", kBackwardFilter, Operation::kConvolutionBackwardFilter},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        const auto answer = call(row.name, row.arguments);
        REQUIRE(answer.kind == Kind::kKnown);
        CHECK(answer.work.flops == kFlops);
        CHECK(answer.work.least_bytes == kElements * 4);
        CHECK(answer.work.type == MathType::kFp32OrTf32);
        CHECK(answer.work.operation == row.operation);
    }
}

TEST_CASE("FLOPs of a convolution do not depend on the order in memory; bytes and arithmetic are the type's") {
    ScriptedCalls call;
    describe(call, kHalf, kNhwc);
    const auto answer = call("cudnnConvolutionForward", kForward);
    CHECK(answer.work.flops == kFlops);
    CHECK(answer.work.least_bytes == kElements * 2);
    CHECK(answer.work.type == MathType::kFp16);
    describe(call, kDouble);
    CHECK(call("cudnnConvolutionForward", kForward).work.type == MathType::kFp64);
    describe(call, kInt8x4, kNchwVectC);
    CHECK(call("cudnnConvolutionForward", kForward).work.flops == kFlops);
    CHECK(call("cudnnConvolutionForward", kForward).work.type == MathType::kInt8);
}

TEST_CASE("FLOPs of strided, dilated and grouped convolutions follow from the output and the filter") {
    ScriptedCalls call;
    describe(call);
    convolution(call, 2, 1);
    tensor(call, kY, kFloat, kNchw, {4, 64, 14, 14});
    CHECK(call("cudnnConvolutionForward", kForward).work.flops == kFlops / 4);
    convolution(call, 1, 2);
    tensor(call, kY, kFloat, kNchw, {4, 64, 26, 26});
    CHECK(call("cudnnConvolutionForward", kForward).work.flops == 99'680'256);  // 2 x 173,056 x 288
    // Four groups: the filter is 64 x 32/4 x 3 x 3, and so are the sums. Not counted again for each group.
    describe(call);
    filter(call, kFloat, kNchw, {64, 8, 3, 3});
    call("cudnnSetConvolutionGroupCount", {{"convDesc", kConvolution}, {"groupCount", 4}});
    CHECK(call("cudnnConvolutionForward", kForward).work.flops == kFlops / 4);
    CHECK(call("cudnnConvolutionBackwardFilter", kBackwardFilter).work.flops == kFlops / 4);
    // Depthwise.
    filter(call, kFloat, kNchw, {32, 1, 3, 3});
    tensor(call, kY, kFloat, kNchw, {4, 32, 28, 28});
    CHECK(call("cudnnConvolutionForward", kForward).work.flops == 1'806'336);  // 2 x 100,352 x 9
}

TEST_CASE("FLOPs of a convolution in three dimensions, and of tensors with strides") {
    ScriptedCalls call;
    call("cudnnSetTensorNdDescriptor", {{"tensorDesc", kX},
                                        {"dataType", kFloat},
                                        {"nbDims", 5},
                                        {"dimA", {2, 8, 8, 16, 16}},
                                        {"strideA", {16'384, 2'048, 256, 16, 1}}});
    call(
        "cudnnSetFilterNdDescriptor",
        {{"filterDesc", kW}, {"dataType", kFloat}, {"format", kNchw}, {"nbDims", 5}, {"filterDimA", {16, 8, 3, 3, 3}}});
    call("cudnnSetConvolutionNdDescriptor", {{"convDesc", kConvolution},
                                             {"arrayLength", 3},
                                             {"padA", {0, 0, 0}},
                                             {"filterStrideA", {1, 1, 1}},
                                             {"dilationA", {1, 1, 1}}});
    call("cudnnSetTensorNdDescriptorEx",
         {{"tensorDesc", kY}, {"format", kNhwc}, {"dataType", kFloat}, {"nbDims", 5}, {"dimA", {2, 16, 6, 14, 14}}});
    CHECK(call("cudnnConvolutionForward", kForward).work.flops == 16'257'024);  // 2 x 37,632 x 216
    // A transposed convolution 2 x 16 x 14 x 14 -> 2 x 8 x 30 x 30 is the data gradient of one from there.
    call("cudnnSetTensor4dDescriptorEx",
         {{"tensorDesc", kX}, {"dataType", kFloat}, {"n", 2}, {"c", 8}, {"h", 30}, {"w", 30}});
    filter(call, kFloat, kNchw, {16, 8, 3, 3});
    tensor(call, kY, kFloat, kNchw, {2, 16, 14, 14});
    CHECK(call("cudnnConvolutionBackwardData", kBackwardData).work.flops == 903'168);  // 2 x 6,272 x 72
}

TEST_CASE("the math type of a convolution: FMA only is FP32; a descriptor described anew has the default again") {
    ScriptedCalls call;
    describe(call);
    call("cudnnSetConvolutionMathType", {{"convDesc", kConvolution}, {"mathType", 3}});
    CHECK(call("cudnnConvolutionForward", kForward).work.type == MathType::kFp32);
    convolution(call, 1, 1);
    CHECK(call("cudnnConvolutionForward", kForward).work.type == MathType::kFp32OrTf32);
}

TEST_CASE("a descriptor's handle stands for what it was last described as; without a description the work is unknown") {
    ScriptedCalls call;
    CHECK(call("cudnnConvolutionForward", kForward).cause == Unknown::kNoDescriptor);
    describe(call);
    tensor(call, kY, kFloat, kNchw, {8, 64, 28, 28});
    CHECK(call("cudnnConvolutionForward", kForward).work.flops == 2 * kFlops);
    call.status = 3;  // what failed changed nothing
    tensor(call, kY, kFloat, kNchw, {1, 64, 28, 28});
    CHECK(call("cudnnConvolutionForward", kForward).kind == Kind::kComputesNothing);
    call.status = 0;
    CHECK(call("cudnnConvolutionForward", kForward).work.flops == 2 * kFlops);
    tensor(call, kY, kFloat, kNchw, {-8, 64, 28, 28});
    CHECK(call("cudnnConvolutionForward", kForward).cause == Unknown::kSenselessSizes);
}

TEST_CASE("what cuDNN computes without sums of products has no FLOPs; what it computes of unknown work says why") {
    ScriptedCalls call;
    for (const char* name :
         {"cudnnAddTensor", "cudnnConvolutionBackwardBias", "cudnnActivationForward", "cudnnPoolingBackward",
          "cudnnSoftmaxForward", "cudnnBatchNormalizationForwardTrainingEx", "cudnnTransformTensor",
          "cudnnDropoutForward", "cudnnOpTensor", "cudnnReduceTensor", "cudnnLRNCrossChannelForward", "cudnnSetTensor",
          "cudnnIm2Col", "cudnnNormalizationForwardTraining", "cudnnSetDropoutDescriptor", "cudnnAddTensor_v3"}) {
        INFO(name);
        CHECK(call(name, {}).kind == Kind::kZero);
    }
    CHECK(call("cudnnFindConvolutionForwardAlgorithm", {}).cause == Unknown::kTrials);
    CHECK(call("cudnnRNNForward", {}).cause == Unknown::kNoDescriptor);
    CHECK(call("cudnnMultiHeadAttnForward", {}).cause == Unknown::kNotKept);
    CHECK(call("cudnnConvolutionBackwardFilter_v3", {}).cause == Unknown::kNotKept);
    CHECK(call("cudnnFusedOpsExecute", {}).cause == Unknown::kNoFormula);
}

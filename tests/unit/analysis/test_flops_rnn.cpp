// Work of cuDNN's recurrent networks. Numbers by hand.
#include <catch2/catch.hpp>

#include <vector>

#include "tests/unit/analysis/scripted_calls.hpp"

using namespace gpuspy::test;
using gpuspy::analysis::MathType;
using gpuspy::analysis::Unknown;
using gpuspy::analysis::WorkAnswer;
using Kind = WorkAnswer::Kind;

namespace {

constexpr std::int64_t kFloat = 0, kHalf = 2;
constexpr std::int64_t kTanh = 1, kLstm = 2, kGru = 3;
constexpr std::int64_t kRnn = 0x10, kX = 0x20, kY = 0x30;

/// Sequences of 20 steps in all, of 32 elements each.
void describe_data(ScriptedCalls& call, std::int64_t steps = 20) {
    for (const std::int64_t data : {kX, kY}) {
        call("cudnnSetRNNDataDescriptor", {{"rnnDataDesc", data},
                                           {"dataType", kHalf},
                                           {"maxSeqLength", 10},
                                           {"batchSize", 4},
                                           {"vectorSize", 32},
                                           {"steps", steps}});
    }
}

NamedArguments network(std::int64_t cell, std::int64_t layers, std::int64_t directions = 0,
                       std::int64_t projected = 64) {
    return {{"rnn", kRnn}, {"cell", cell}, {"dir", directions}, {"skip", 0},       {"dataType", kHalf},
            {"input", 32}, {"hidden", 64}, {"proj", projected}, {"layers", layers}};
}

WorkAnswer forward(ScriptedCalls& call, const NamedArguments& described) {
    call("cudnnSetRNNDescriptor_v8", described);
    return call("cudnnRNNForward", {{"rnn", kRnn}, {"xDesc", kX}, {"yDesc", kY}});
}

}  // namespace

TEST_CASE("FLOPs of recurrent networks: a matrix for each gate, for the input and for the last output") {
    ScriptedCalls call;
    describe_data(call);
    // 64 x (32 + 64) weights for each gate; 2 x 20 steps.
    const auto lstm = forward(call, network(kLstm, 1));
    REQUIRE(lstm.kind == Kind::kKnown);
    CHECK(lstm.work.flops == 983'040);  // 40 x 4 x 6,144
    CHECK(lstm.work.type == MathType::kFp16);
    CHECK(lstm.work.least_bytes == 2 * (24'576 + 20 * (32 + 64)));
    CHECK(forward(call, network(kGru, 1)).work.flops == 737'280);
    CHECK(forward(call, network(kTanh, 1)).work.flops == 245'760);
    // The second layer's input is the first one's output: 64 x (64 + 64).
    CHECK(forward(call, network(kLstm, 2)).work.flops == 40 * 4 * (6'144 + 8'192));
    // Both directions: two of each, and the second layer gets both outputs, 64 x (128 + 64).
    CHECK(forward(call, network(kLstm, 2, 1)).work.flops == 40 * 2 * 4 * (6'144 + 12'288));
    // Projected to 16: 64 x (32 + 16) for each gate, and 64 x 16.
    CHECK(forward(call, network(kLstm, 1, 0, 16)).work.flops == 40 * (4 * 3'072 + 1'024));
    NamedArguments skipping = network(kLstm, 1);
    skipping[3] = {"skip", 1};
    CHECK(forward(call, skipping).work.flops == 40 * 4 * 4'096);  // No product with the input.
}

TEST_CASE("each gradient of a recurrent network is as much as forward") {
    ScriptedCalls call;
    describe_data(call);
    const auto flops = forward(call, network(kGru, 2)).work.flops;
    for (const char* name : {"cudnnRNNBackwardData_v8", "cudnnRNNBackwardWeights_v8"}) {
        CHECK(call(name, {{"rnn", kRnn}, {"xDesc", kX}, {"yDesc", kY}}).work.flops == flops);
    }
}

TEST_CASE("FLOPs of recurrent networks by the older interfaces: sizes come from the data's descriptors") {
    ScriptedCalls call;
    describe_data(call);
    call("cudnnSetRNNDescriptor_v6",
         {{"rnn", kRnn}, {"hidden", 64}, {"layers", 1}, {"cell", kLstm}, {"mathPrec", kFloat}});
    CHECK(call("cudnnRNNForwardTrainingEx", {{"rnn", kRnn}, {"xDesc", kX}}).work.flops == 983'040);
    CHECK(call("cudnnRNNBackwardDataEx", {{"rnn", kRnn}, {"dxDesc", kX}}).work.flops == 983'040);
    CHECK(call("cudnnRNNBackwardWeightsEx", {{"rnn", kRnn}, {"xDesc", kX}}).work.flops == 983'040);
    // A tensor for each step, of the sequences that are not over: 4, 4 and 2.
    for (const auto& [handle, batch] : {std::pair<std::int64_t, std::int64_t>{0x40, 4}, {0x41, 2}}) {
        call("cudnnSetTensorNdDescriptor",
             {{"tensorDesc", handle}, {"dataType", kFloat}, {"nbDims", 3}, {"dimA", {batch, 32, 1}}});
    }
    const std::vector<std::int64_t> steps = {0x40, 0x40, 0x41};
    const NamedArguments inference = {{"rnn", kRnn}, {"seqLength", 3}, {"xDesc", steps}};
    CHECK(call("cudnnRNNForwardInference", inference).work.flops == 491'520);  // 10 steps
    CHECK(call("cudnnRNNForwardInference", inference).work.type == MathType::kFp32OrTf32);
    CHECK(call("cudnnRNNForwardTraining", inference).work.flops == 491'520);
    CHECK(call("cudnnRNNBackwardWeights", inference).work.flops == 491'520);
    CHECK(call("cudnnRNNBackwardData", {{"rnn", kRnn}, {"seqLength", 3}, {"dxDesc", steps}}).work.flops == 491'520);
    call("cudnnSetRNNMatrixMathType", {{"rnn", kRnn}, {"mathType", 3}});
    CHECK(call("cudnnRNNForwardInference", inference).work.type == MathType::kFp32);
    call("cudnnSetRNNProjectionLayers", {{"rnn", kRnn}, {"proj", 16}});
    CHECK(call("cudnnRNNForwardInference", inference).work.flops == 20 * (4 * 3'072 + 1'024));
}

TEST_CASE("recurrent networks of unknown work say why") {
    ScriptedCalls call;
    const NamedArguments run = {{"rnn", kRnn}, {"xDesc", kX}};
    CHECK(call("cudnnRNNForward", run).cause == Unknown::kNoDescriptor);
    call("cudnnSetRNNMatrixMathType", {{"rnn", kRnn}, {"mathType", 3}});
    describe_data(call);
    CHECK(call("cudnnRNNForward", run).cause == Unknown::kNoDescriptor);
    CHECK(forward(call, network(9, 1)).cause == Unknown::kSenselessSizes);
    CHECK(forward(call, network(kLstm, -1)).cause == Unknown::kSenselessSizes);
    CHECK(forward(call, network(kLstm, std::int64_t{1} << 40)).cause == Unknown::kSenselessSizes);
    describe_data(call, -1);  // More sequences than are added up.
    CHECK(forward(call, network(kLstm, 1)).cause == Unknown::kNotKept);
    // More steps than tensors are recorded.
    CHECK(call("cudnnRNNForwardInference",
               {{"rnn", kRnn}, {"seqLength", 40}, {"xDesc", std::vector<std::int64_t>(16, 0x40)}})
              .cause == Unknown::kNotKept);
    Api older = hooked("cudnnRNNForward");
    older.fields = "xDesc:4p yDesc:6p";
    CHECK(call.as(older, {{"xDesc", kX}}).cause == Unknown::kNotKept);
    CHECK(call("cudnnMultiHeadAttnForward", {}).cause == Unknown::kNotKept);
}

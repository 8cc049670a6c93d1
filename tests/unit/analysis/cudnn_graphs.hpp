// Graphs of cuDNN in scripted calls: tensors, operations, plans that heuristics choose the configuration of.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/unit/analysis/scripted_calls.hpp"

namespace gpuspy::test::cudnn_graphs {

using analysis::WorkAnswer;

inline constexpr std::int64_t kFloat = 0, kHalf = 2;
// Attributes, by cudnnBackendAttributeName_t.
inline constexpr std::int64_t kDataType = 901, kDimensions = 902, kStrides = 903, kVectorCount = 904, kVirtual = 907,
                              kByValue = 908;
inline constexpr std::int64_t kOperations = 801, kHeuristicsGraph = 201, kEngineGraph = 1300, kConfigEngine = 300,
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

inline void tensor(ScriptedCalls& call, std::int64_t handle, const std::vector<std::int64_t>& dimensions,
                   std::int64_t type = kFloat, bool is_virtual = false) {
    call.set(handle, kDataType, {type});
    call.set(handle, kDimensions, dimensions);
    call.set(handle, kStrides, dimensions);
    if (is_virtual) call.set(handle, kVirtual, {1});
}

inline void convolution_forward(ScriptedCalls& call, std::int64_t operation, std::int64_t x, std::int64_t w,
                                std::int64_t y) {
    call.set(kConvolution, 100, {kFloat});
    call.set(kConvolution, 102, {1, 1});
    call.link(operation, 702, {kConvolution});
    call.link(operation, 704, {x});
    call.link(operation, 703, {w});
    call.link(operation, 705, {y});
}

/// As frameworks do: the heuristics choose the configuration, whose attributes are never set.
inline void plan_by_heuristics(ScriptedCalls& call, const std::vector<std::int64_t>& operations,
                               std::int64_t plan = kPlan) {
    call.link(kGraph, kOperations, operations);
    call.link(kHeuristics, kHeuristicsGraph, {kGraph});
    call.link(plan, kPlanConfig, {kConfig});
}

/// x 4 x 32 x 28 x 28 -> y 4 x 64 x 28 x 28 by 3 x 3.
inline void convolution_plan(ScriptedCalls& call, std::int64_t plan = kPlan, std::int64_t batch = 4) {
    tensor(call, kX, {batch, 32, 28, 28});
    tensor(call, kW, {64, 32, 3, 3});
    tensor(call, kY, {batch, 64, 28, 28});
    convolution_forward(call, kOperation, kX, kW, kY);
    plan_by_heuristics(call, {kOperation}, plan);
}
inline constexpr std::uint64_t kFlops = 115'605'504;  // 2 x 200,704 x 288
inline constexpr std::uint64_t kBytes = 319'488 * 4;

inline WorkAnswer execute(ScriptedCalls& call, std::int64_t plan = kPlan) {
    return call("cudnnBackendExecute", {{"executionPlan", plan}});
}

inline void pointwise(ScriptedCalls& call, std::int64_t operation, std::int64_t mode, std::int64_t x, std::int64_t b,
                      std::int64_t y) {
    constexpr std::int64_t kPointwise = 0xfff;  // one address for all: each is used before the next is described
    call.set(kPointwise, 0, {mode});
    call.set(kPointwise, 1, {kFloat});
    call.link(operation, 750, {kPointwise});
    call.link(operation, 751, {x});
    if (b != 0) call.link(operation, 752, {b});
    call.link(operation, 753, {y});
}

inline constexpr std::uint64_t kAttentionFlops = 1'073'741'824;  // 2 x 2 x 8 x 512 x 512 x (64 + 64)

}  // namespace gpuspy::test::cudnn_graphs

// Plans and their graphs: which graph a plan is of, how much of it is recorded, masks. Numbers by hand.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/unit/analysis/cudnn_graphs.hpp"

using namespace gpuspy::test;
using namespace gpuspy::test::cudnn_graphs;
using gpuspy::analysis::Operation;
using gpuspy::analysis::Unknown;

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

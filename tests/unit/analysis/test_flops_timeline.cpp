// Which device records belong to which call's work: nesting, graphs, calls without records.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "analysis/model/selection.hpp"
#include "analysis/passes/work_executions.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripted_calls.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::MathType;
using analysis::told_by_kernel;
using analysis::WorkAnswer;
using Kind = WorkAnswer::Kind;

namespace {

/// A call of a library; `at` and `length` in ticks since kStart.
Call library_call(const std::string& name, std::uint64_t at, std::uint64_t length, const NamedArguments& arguments,
                  std::uint32_t depth = 0) {
    const Api api = hooked(name);
    return {.api = api,
            .begin = kStart + at,
            .end = kStart + at + length,
            .depth = depth,
            .arguments = words_of(api, arguments)};
}

Call launch(std::uint64_t at, std::uint64_t correlation, std::uint32_t depth) {
    return {.api = driver_launch(),
            .begin = kStart + at,
            .end = kStart + at + 5,
            .depth = depth,
            .correlation = correlation};
}

Activity kernel(const std::string& name, std::uint64_t at, std::uint64_t duration, std::uint64_t correlation) {
    return {.name = name, .start = on_device(kStart + at), .duration = duration, .correlation = correlation};
}

const NamedArguments kTen = {{"m", 10}, {"n", 10}, {"k", 10}};  // 2,000 FLOPs

/// Executions by API.
std::map<std::string, std::vector<analysis::WorkExecution>> executions_of(const analysis::Model& model) {
    std::map<std::string, std::vector<analysis::WorkExecution>> by_api;
    for (const auto& execution : analysis::work_executions(model, *model.timeline).input.executions) {
        by_api[std::string(execution.api)].push_back(execution);
    }
    return by_api;
}

}  // namespace

TEST_CASE("what a call does by calling other libraries is in its own work; of an unknown one the inner calls count") {
    TraceBuilder trace = begun_trace();
    trace.call(launch(120, 1, 2));
    trace.call(library_call("cublasLtMatmul", 110, 20, {}, 1));  // of unknown layouts
    trace.call(launch(140, 2, 1));
    trace.call(library_call("cublasDgemm_v2", 100, 60, kTen));
    trace.call(launch(220, 3, 2));
    trace.call(library_call("cublasDgemm_v2", 210, 20, kTen, 1));
    trace.call(launch(240, 4, 1));
    trace.call(library_call("cudnnRNNForward", 200, 60, {}));
    for (std::uint64_t i = 1; i <= 4; ++i) trace.activity(kernel("k", 300 + 100 * i, 10 * i, i));
    trace.end(kStart + 1'000);
    const auto model = timeline_of(trace);
    const auto executions = executions_of(*model);
    CHECK(executions.count("cublasLtMatmul") == 0);
    REQUIRE(executions.at("cublasDgemm_v2").size() == 2);
    CHECK(executions.at("cublasDgemm_v2")[0].answer.work.flops == 2'000);
    CHECK(executions.at("cublasDgemm_v2")[0].gpu_ns == 30);
    CHECK(executions.at("cublasDgemm_v2")[0].kernels == 2);
    CHECK(executions.at("cublasDgemm_v2")[1].gpu_ns == 30);
    REQUIRE(executions.at("cudnnRNNForward").size() == 1);
    CHECK(executions.at("cudnnRNNForward")[0].answer.kind == Kind::kUnknown);
    CHECK(executions.at("cudnnRNNForward")[0].gpu_ns == 40);
}

TEST_CASE("a captured call computes nothing then, and its work once for each launch of the graph") {
    TraceBuilder trace = begun_trace();
    constexpr std::uint64_t kExec = 0xe0;
    Call first = launch(110, 0, 1);
    first.flags = abi::kCallCaptured;
    first.launch_id = 5;
    trace.call(first);
    Call second = launch(120, 0, 1);
    second.flags = abi::kCallCaptured;
    second.launch_id = 6;
    trace.call(second);
    trace.call(library_call("cublasDgemm_v2", 100, 50, kTen));
    trace.graph_exec(kStart + 200, kExec, 9, 2);
    trace.graph_nodes(kStart + 200, kExec, {{0, 0, 0, 5}, {1, 0, 0, 6}});
    for (std::uint64_t i = 0; i < 3; ++i) {
        trace.call({.api = graph_launch(),
                    .begin = kStart + 300 + 100 * i,
                    .end = kStart + 310 + 100 * i,
                    .correlation = 10 + i,
                    .exec = kExec});
        for (std::uint64_t node = 0; node < 2; ++node) {
            Activity record = kernel("k", 320 + 100 * i + 20 * node, 7, 10 + i);
            record.graph_exec_id = 9;
            record.graph_node = node;
            trace.activity(record);
        }
    }
    trace.end(kStart + 1'000);
    const auto model = timeline_of(trace);
    const auto executions = executions_of(*model);
    REQUIRE(executions.size() == 1);
    REQUIRE(executions.at("cublasDgemm_v2").size() == 3);
    for (const auto& execution : executions.at("cublasDgemm_v2")) {
        CHECK(execution.answer.work.flops == 2'000);
        CHECK(execution.gpu_ns == 14);
        CHECK(execution.kernels == 2);
    }
    CHECK(analysis::work_executions(*model, *model->timeline).without_records == 0);
}

TEST_CASE("of what was selected the share of an operation's device time counts, on both sides") {
    TraceBuilder trace = begun_trace();
    trace.device(0, "NVIDIA H200");
    trace.call(launch(120, 1, 1));
    trace.call(launch(130, 2, 1));
    trace.call(library_call("cublasDgemm_v2", 100, 60, kTen));
    trace.call(launch(220, 3, 1));
    trace.call(library_call("cublasDgemm_v2", 200, 60, kTen));
    trace.activity(kernel("product", 400, 90, 1));
    trace.activity(kernel("reduce", 500, 10, 2));
    trace.activity(kernel("product", 600, 100, 3));
    trace.activity(kernel("other", 800, 100, 9));
    trace.end(kStart + 1'000);
    const auto model = timeline_of(trace);
    const auto report_of = [&model](const analysis::Selection& selection, std::uint64_t in_part) {
        const auto part = analysis::select(*model, *model->timeline, selection);
        const auto executions = analysis::work_executions(*model, part);
        CHECK(executions.in_part == in_part);
        CHECK(executions.without_records == 0);
        return analysis::flops_report(executions.input);
    };
    analysis::Selection range;  // Half of the last product; calls lie before it.
    range.from_ns = 650;
    range.to_ns = 850;
    const auto by_time = report_of(range, 1);
    REQUIRE(by_time.totals.size() == 1);
    CHECK(by_time.totals[0].flops == 1'000);
    CHECK(by_time.totals[0].time.kernel_ns == 100);
    CHECK(by_time.totals[0].time.known_ns == 50);
    CHECK(by_time.totals[0].busy_ns == 100);
    CHECK(by_time.totals[0].per_s_of_busy == Approx(1'000 / 100e-9));
    CHECK(by_time.rows[0].per_s == Approx(1'000 / 50e-9));  // The same as of the whole.
    analysis::Selection filter;
    filter.wants_kernel = [](const std::string& name) { return name == "product"; };
    const auto by_name = report_of(filter, 1);
    CHECK(by_name.totals[0].flops == Approx(2'000 * 0.9 + 2'000));
    CHECK(by_name.totals[0].time.kernel_ns == 190);
    CHECK(by_name.totals[0].covered == 1);
    CHECK(by_name.rows[0].kernels == 2);
    filter.wants_kernel = [](const std::string& name) { return name == "other"; };
    const auto none = report_of(filter, 0);
    CHECK_FALSE(none.totals[0].flops);
    CHECK(none.rows.empty());
    filter.wants_kernel = [](const std::string&) { return false; };
    CHECK(report_of(filter, 0).totals.empty());
    const auto whole = analysis::work_executions(*model, *model->timeline);
    CHECK(whole.in_part == 0);
    CHECK(analysis::flops_report(whole.input).totals[0].flops == 4'000);
}

TEST_CASE("a call without a device record is said to be missing; without any records at all each call counts") {
    for (const bool recorded : {true, false}) {
        TraceBuilder trace = begun_trace();
        trace.call(launch(120, 1, 1));
        trace.call(library_call("cublasDgemm_v2", 100, 60, kTen));
        trace.call(launch(220, 2, 1));
        trace.call(library_call("cublasDgemm_v2", 200, 60, kTen));
        Call captured = launch(320, 0, 1);
        captured.flags = abi::kCallCaptured;
        trace.call(captured);
        trace.call(library_call("cublasDgemm_v2", 300, 60, kTen));
        if (recorded) trace.activity(kernel("k", 400, 10, 1));
        trace.end(kStart + 1'000);
        const auto model = timeline_of(trace);
        const auto executions = analysis::work_executions(*model, *model->timeline);
        CHECK(executions.input.executions.size() == (recorded ? 1 : 2));
        CHECK(executions.input.executions[0].timed == recorded);
        CHECK(executions.without_records == (recorded ? 1 : 0));
    }
}

TEST_CASE("calls of two threads describe and compute in the order of time, not of the file") {
    TraceBuilder trace = begun_trace();
    const auto layout = [](std::uint64_t at, std::int64_t handle, std::int64_t rows) {
        return library_call("cublasLtMatrixLayoutCreate", at, 5,
                            {{"matLayout", handle}, {"type", 1}, {"rows", rows}, {"cols", 10}, {"ld", rows}});
    };
    // Drained first: a thread that computes with what the other one describes, and that is described again later.
    trace.call(launch(220, 1, 1));
    trace.call(library_call("cublasLtMatmul", 200, 60,
                            {{"computeDesc", 1}, {"Adesc", 2}, {"Bdesc", 2}, {"Cdesc", 3}, {"Ddesc", 3}}));
    trace.thread(1, 101, "describes");
    trace.call(library_call("cublasLtMatmulDescCreate", 100, 5, {{"matmulDesc", 1}, {"computeType", 70}}));
    trace.call(layout(110, 2, 10));
    trace.call(layout(120, 3, 10));
    trace.call(layout(300, 3, 7));
    trace.activity(kernel("k", 400, 10, 1));
    trace.end(kStart + 1'000);
    const auto model = timeline_of(trace);
    const auto executions = executions_of(*model);
    REQUIRE(executions.at("cublasLtMatmul").size() == 1);
    CHECK(executions.at("cublasLtMatmul")[0].answer.work.flops == 2'000);
}

TEST_CASE("kernels' names tell TF32 from FP32 where the arguments do not") {
    const MathType either = MathType::kFp32OrTf32;
    CHECK(told_by_kernel(either, "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc") == MathType::kTf32);
    CHECK(told_by_kernel(either, "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize32x32x8") == MathType::kTf32);
    CHECK(told_by_kernel(either, "cutlass_80_tensorop_s1688gemm_128x64_nn_align4") == MathType::kTf32);
    CHECK(told_by_kernel(either, "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32") == MathType::kFp32);
    CHECK(told_by_kernel(either, "ampere_sgemm_32x128_tn") == MathType::kFp32);
    CHECK(told_by_kernel(either, "splitKreduce_kernel") == either);
    CHECK(told_by_kernel(MathType::kFp16, "sm80_xmma_gemm_f32f32_tf32f32") == MathType::kFp16);

    TraceBuilder trace = begun_trace();
    trace.call(launch(120, 1, 1));
    trace.call(launch(130, 2, 1));
    trace.call(library_call("cublasSgemm_v2", 100, 60, kTen));
    trace.activity(kernel("splitKreduce_kernel", 400, 10, 1));
    trace.activity(kernel("x_tf32f32_y", 500, 10, 2));
    trace.end(kStart + 1'000);
    const auto model = timeline_of(trace);
    const auto executions = analysis::work_executions(*model, *model->timeline);
    CHECK(executions.input.executions[0].answer.work.type == MathType::kTf32);
    CHECK(executions.told_by_kernels == 1);
}

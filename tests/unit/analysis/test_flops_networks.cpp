// FLOPs of known networks, from traces of real runs (networks/network.py says how they were made).
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "analysis/passes/work_executions.hpp"
#include "analysis/reader/byte_source.hpp"
#include "tests/unit/analysis/reading.hpp"

using namespace gpuspy;
using analysis::WorkAnswer;

namespace {

/// With the model that they are of.
struct Executions {
    std::unique_ptr<analysis::Model> model;
    analysis::WorkExecutions of;
};

Executions executions_of(const std::string& trace) {
    INFO(trace);
    const auto source = analysis::open_file(std::string(GPUSPY_NETWORK_TRACES) + "/" + trace + ".bin");
    REQUIRE(source.ok());
    auto model = analysis::build_model(*source.value(), {.reading = {}, .timeline = true});
    REQUIRE(model.ok());
    Executions executions{std::move(model.value()), {}};
    executions.of = analysis::work_executions(*executions.model, *executions.model->timeline);
    return executions;
}

analysis::FlopsTotal total_of(const std::string& trace) {
    return analysis::flops_report(executions_of(trace).of.input).totals.at(0);
}

}  // namespace

TEST_CASE("FLOPs of networks: twice the multiply-adds that are published of one 224 x 224 image") {
    struct Row {
        const char* trace;
        double images;
        double multiply_adds;  ///< Of an image, in 10^9: convolutions and fully connected layers.
    };
    const Row rows[] = {
        {"alexnet_infer_1", 3, 0.714},  {"squeezenet1_0_infer_1", 3, 0.819}, {"resnet50_infer_1", 3, 4.089},
        {"vgg16_infer_1", 3, 15.470},   {"densenet161_infer_1", 3, 7.728},   {"resnet50_half_2", 6, 4.089},
        {"resnet50_graph_1", 6, 4.089},  // three passes, a captured one that computes nothing, three replays
    };
    for (const Row& row : rows) {
        INFO(row.trace);
        const auto total = total_of(row.trace);
        REQUIRE(total.flops);
        CHECK(static_cast<double>(*total.flops) == Approx(2e9 * row.images * row.multiply_adds).epsilon(0.001));
        CHECK(total.utilisation_of_wall.value_or(0) > 0);
        CHECK(total.utilisation_of_busy.value_or(0) < 1);
    }
}

TEST_CASE("FLOPs of training: forward, and both gradients but that of the images") {
    // Two steps with two images. The first convolution has 64 x 112 x 112 x 147 multiply-adds.
    constexpr double kFirst = 64.0 * 112 * 112 * 147 / 1e9;
    const auto total = total_of("resnet50_train_2");
    CHECK(static_cast<double>(total.flops.value_or(0)) == Approx(2e9 * 4 * (3 * 4.08918 - kFirst)).epsilon(1e-4));
}

TEST_CASE("autotuning executes trial plans, whose work was done and counts") {
    const Executions executions = executions_of("resnet50_bench_2");
    std::size_t plans = 0;
    for (const auto& execution : executions.of.input.executions) {
        plans += execution.api == "cudnnBackendExecute" && execution.answer.kind == WorkAnswer::Kind::kKnown ? 1 : 0;
    }
    CHECK(plans == 619);  // of which 3 x 53 are the passes themselves
    CHECK(total_of("resnet50_bench_2").flops.value_or(0) > std::uint64_t{2} * 6 * 4'089'000'000);
}

TEST_CASE("what a framework computes by kernels of its own is not covered") {
    // MobileNet v2 has 0.3008 G multiply-adds, 20.7 M of them in depthwise convolutions that PyTorch does itself.
    const auto total = total_of("mobilenet_v2_infer_1");
    CHECK(static_cast<double>(total.flops.value_or(0)) == Approx(2e9 * 3 * (0.3008 - 0.0207)).epsilon(0.001));
    CHECK(total.covered.value_or(1) < 0.8);
    CHECK(total.time.other_ns > 0);
}

TEST_CASE("FLOPs of products, convolutions and attention of every kind, to the last one") {
    // Eight products of 256 x 512 by 512 x 128, a complex one, one by a vector, a dot product of 512.
    constexpr std::uint64_t kProduct = 2 * 256 * 512 * 128;
    CHECK(total_of("gemms").flops == 8 * kProduct + 4 * kProduct + 2 * 256 * 512 + 2 * 512);

    // Four forms in three types, each with both gradients; six of the nine depthwise ones are PyTorch's own. Then one in
    // three dimensions and a transposed one.
    constexpr std::uint64_t kDepthwise = 4 * 32 * 28 * 28 * 9;
    constexpr std::uint64_t kForms =
        4 * 64 * 28 * 28 * (32 * 9) + 4 * 64 * 14 * 14 * (8 * 9) + kDepthwise + 4 * 16 * 28 * 28 * (32 * 25);
    constexpr std::uint64_t kOthers = 2 * 16 * 6 * 14 * 14 * (8 * 27) + 2 * 8 * 16 * 16 * (16 * 9);
    const auto convolutions = total_of("convs");
    CHECK(convolutions.flops == 2 * (9 * kForms - 6 * kDepthwise + kOthers));
    CHECK(convolutions.time.unknown_ns > 0);  // an LSTM

    // Four times whole, three times causal.
    constexpr std::uint64_t kAttention = 2ULL * 2 * 8 * 512 * 512 * (64 + 64);
    CHECK(total_of("sdpa").flops == 4 * kAttention + 3 * kAttention / 2);
}

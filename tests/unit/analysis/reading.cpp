#include "tests/unit/analysis/reading.hpp"

#include <catch2/catch.hpp>

#include <span>
#include <string>
#include <utility>

namespace gpuspy::test {

namespace {

std::unique_ptr<analysis::Model> built(std::string_view bytes, bool timeline) {
    const analysis::MemorySource source(std::as_bytes(std::span(bytes)));
    auto model = analysis::build_model(source, {.reading = {}, .timeline = timeline});
    INFO((model.ok() ? std::string("readable") : model.fault().message));
    REQUIRE(model.ok());
    return std::move(model.value());
}

}  // namespace

std::unique_ptr<analysis::Model> model_of(std::string_view bytes) {
    return built(bytes, false);
}

std::unique_ptr<analysis::Model> timeline_of(TraceBuilder& trace) {
    return built(trace.bytes(), true);
}

analysis::Findings findings_of(std::string_view bytes) {
    return analysis::find_all(*model_of(bytes));
}

analysis::Findings findings_of(TraceBuilder& trace) {
    return findings_of(trace.bytes());
}

const analysis::KernelRow& kernel_row(const analysis::Findings& findings, std::string_view mangled,
                                      std::string_view owner) {
    for (const analysis::KernelRow& row : findings.kernels) {
        if (row.mangled == mangled && (owner.empty() || row.owner == owner)) {
            return row;
        }
    }
    FAIL("no row for kernel " << mangled << " of owner " << owner);
    return findings.kernels.front();
}

}  // namespace gpuspy::test

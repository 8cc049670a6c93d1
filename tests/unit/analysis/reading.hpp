// Reads a trace in a test, which fails where the trace cannot be read.
#pragma once

#include <memory>
#include <string_view>

#include "analysis/model/build_model.hpp"
#include "analysis/passes/findings.hpp"
#include "tests/unit/analysis/trace_builder.hpp"

namespace gpuspy::test {

/// The model of a trace, which must be readable.
std::unique_ptr<analysis::Model> model_of(std::string_view bytes);
inline std::unique_ptr<analysis::Model> model_of(TraceBuilder& trace) {
    return model_of(trace.bytes());
}
/// The same with a timeline.
std::unique_ptr<analysis::Model> timeline_of(TraceBuilder& trace);
analysis::Findings findings_of(TraceBuilder& trace);
analysis::Findings findings_of(std::string_view bytes);

/// The row of a kernel (by mangled name) and owner; fails the test if there is none.
const analysis::KernelRow& kernel_row(const analysis::Findings& findings, std::string_view mangled,
                                      std::string_view owner = "");

}  // namespace gpuspy::test

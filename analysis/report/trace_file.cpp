#include "analysis/report/trace_file.hpp"

#include <spdlog/spdlog.h>

#include "analysis/report/salvage_first.hpp"

namespace gpuspy::report {

int fail(const std::string& message, analysis::ExitCode code) {
    spdlog::error("{}", message);
    return static_cast<int>(code);
}

int partly_readable(const std::string& path, const analysis::ReadSummary& reading) {
    return fail(path + ": partly readable: " + reading.describe(), analysis::ExitCode::kPartial);
}

std::unique_ptr<analysis::Model> load(const std::string& path, WithTimeline timeline, int& status) {
    salvage_first(path);
    const auto source = analysis::open_file(path);
    if (!source.ok()) {
        status = fail(path + ": " + source.fault().message, source.fault().code);
        return nullptr;
    }
    const bool wanted =
        timeline == WithTimeline::kYes || (timeline == WithTimeline::kIfSmall && source.value()->size_bytes() <= kSmallBytes);
    auto model = analysis::build_model(*source.value(), {.reading = {}, .timeline = wanted});
    if (!model.ok()) {
        status = fail(path + ": " + model.fault().message, model.fault().code);
        return nullptr;
    }
    return std::move(model.value());
}

}  // namespace gpuspy::report

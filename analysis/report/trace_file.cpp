#include "analysis/report/trace_file.hpp"

#include <spdlog/spdlog.h>

#include "analysis/salvage/salvage_first.hpp"

namespace gpuspy::report {

int fail(const std::string& message, analysis::ExitCode code) {
    spdlog::error("{}", message);
    return static_cast<int>(code);
}

int partly_readable(const std::string& path, const analysis::ReadSummary& reading) {
    return fail(path + ": partly readable: " + reading.describe(), analysis::ExitCode::kPartial);
}

void salvage(const std::string& path) {
    if (const std::string said = analysis::salvage_first(path, analysis::OlderRings::kRemove); !said.empty()) {
        spdlog::warn("{}", said);
    }
}

std::unique_ptr<analysis::Model> load(const std::string& path, WithTimeline timeline, int& status,
                                      const ProgressTiming& progress_timing) {
    salvage(path);
    const auto source = analysis::open_file(path);
    if (!source.ok()) {
        status = fail(path + ": " + source.fault().message, source.fault().code);
        return nullptr;
    }
    Progress progress(path, progress_timing);
    analysis::BuildOptions options;
    options.reading.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.tell(done, all); };
    options.timeline = timeline != WithTimeline::kNo;
    options.timeline_events = timeline == WithTimeline::kIfSmall ? kSmallEvents : UINT64_MAX;
    auto model = analysis::build_model(*source.value(), options);
    if (!model.ok()) {
        status = fail(path + ": " + model.fault().message, model.fault().code);
        return nullptr;
    }
    return std::move(model.value());
}

}  // namespace gpuspy::report

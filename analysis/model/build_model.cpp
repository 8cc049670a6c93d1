#include "analysis/model/build_model.hpp"

#include "analysis/model/call_pass.hpp"
#include "analysis/model/device_horizons.hpp"
#include "analysis/model/device_pass.hpp"
#include "analysis/model/event_batch.hpp"
#include "analysis/model/timeline_builder.hpp"
#include "analysis/reader/split_reader.hpp"

namespace gpuspy::analysis {

const std::string& Model::kernel_name(std::uint32_t name) const {
    static const std::string kUnnamed = "(name not known)";
    if (name == kNoName) {
        return kUnnamed;
    }
    const std::string& text = index.symbols.text(name);
    return text.empty() ? kUnnamed : text;
}

Result<std::unique_ptr<Model>> build_model(const ByteSource& source, const BuildOptions& options) {
    auto model = std::make_unique<Model>();
    TraceIndexBuilder index_builder(model->index);
    DeviceHorizons device_horizons;
    Symbols unused;  // Device records are only counted.
    const Result<ReadSummary> first =
        read_trace_split(source, model->index.symbols, index_builder, unused, device_horizons, true, options.reading);
    if (!first.ok()) {
        return first.fault();
    }
    device_horizons.add_to(model->index);
    index_builder.finish(first.value());
    if (options.timeline && model->index.events <= options.timeline_events) {
        model->timeline = std::make_unique<Timeline>();
    }
    // The same bytes give the same numbers; someone may have changed the file between the passes.
    model->index.symbols.freeze();
    TimelineBuilder timeline(*model);
    EventBatches batches;
    CallPass calls(*model, timeline, batches);
    DevicePass device(*model, timeline, batches);
    // Both write to a timeline, and both ask whose a captured launch is.
    const bool apart = model->timeline == nullptr && model->index.captured.empty();
    const Result<ReadSummary> second =
        read_trace_again(source, model->index.symbols, calls, device, apart, options.reading);
    if (!second.ok()) {
        return second.fault();
    }
    // The summary of the first pass stands.
    calls.finish();
    device.finish();
    calls.add_counts();
    timeline.finish();
    return model;
}

}  // namespace gpuspy::analysis

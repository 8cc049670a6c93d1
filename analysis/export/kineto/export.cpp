// JSON as torch.profiler writes it (kineto's Chrome trace).
#include <fmt/format.h>

#include "analysis/export/registry.hpp"

namespace gpuspy::analysis {

void export_kineto(const Model& model, ByteSink& sink) {
    std::string text = "{\n\"schemaVersion\": 1,\n\"traceEvents\": [";
    const char* separator = "\n";
    for (const DeviceActivity& activity : model.timeline->activities) {
        text += fmt::format(R"({}{{"ph": "X", "cat": "kernel", "ts": {}}})", separator, activity.begin_ns);
        separator = ",\n";
    }
    sink.write(text + "\n]}\n");
}

}  // namespace gpuspy::analysis

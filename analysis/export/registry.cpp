#include "analysis/export/registry.hpp"

#include <algorithm>
#include <array>

namespace gpuspy::analysis {
namespace {

constexpr std::array kKinds = {
    ExportKind{"kineto", "JSON as torch.profiler writes it: HolisticTraceAnalysis, chrome://tracing", export_kineto},
    ExportKind{"nsys-sqlite", "SQLite with the schema of Nsight Systems' export, for SQL and tools that read it",
               export_nsys_sqlite},
    ExportKind{"perfetto", "Perfetto's protobuf: ui.perfetto.dev, trace_processor", export_perfetto},
};

}  // namespace

std::span<const ExportKind> export_kinds() {
    return kKinds;
}

const ExportKind* find_export_kind(std::string_view name) {
    const auto found =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const ExportKind& kind) { return name == kind.name; });
    return found == kKinds.end() ? nullptr : &*found;
}

}  // namespace gpuspy::analysis

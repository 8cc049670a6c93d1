// Exports: what `gpuspy-report export --to KIND` writes, for other tools to open. docs/exports.md says what each kind holds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "analysis/export/byte_sink.hpp"
#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

/// Writes from the beginning to the end, so that a pipe will do. Stops early when the sink takes no more. The model has a
/// timeline.
using StreamExport = void (*)(const Model& model, ByteSink& sink);
/// Writes the file at `path`, which exists and is empty, and may be opened and changed anywhere; what went wrong, if
/// anything did.
using FileExport = std::optional<std::string> (*)(const Model& model, const std::string& path);

struct ExportKind {
    const char* name;
    const char* about;  ///< One line: what it is, and who opens it.
    std::variant<StreamExport, FileExport> write;
};

/// All of them, by name.
std::span<const ExportKind> export_kinds();
/// nullptr if there is none of this name.
const ExportKind* find_export_kind(std::string_view name);

// One folder or file each.
void export_kineto(const Model& model, ByteSink& sink);
std::optional<std::string> export_nsys_sqlite(const Model& model, const std::string& path);
void export_perfetto(const Model& model, ByteSink& sink);

}  // namespace gpuspy::analysis

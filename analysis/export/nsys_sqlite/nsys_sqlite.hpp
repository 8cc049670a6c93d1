// A timeline as a SQLite file with the schema of Nsight Systems' export (docs/exports.md).
#pragma once

#include <string>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

/// Writes the file at `path`, which must not be there. Throws std::runtime_error, and leaves what it wrote, where the file
/// cannot be written.
void write_nsys_sqlite(const Model& model, const Timeline& timeline, const std::string& path);

}  // namespace gpuspy::analysis

// NVTX ranges as rows of category user_annotation, as torch.profiler writes those of record_function.
#pragma once

#include <cstdint>

#include "analysis/export/kineto/json_rows.hpp"
#include "analysis/model/model.hpp"

namespace gpuspy::analysis::kineto {

/// Ranges of a thread that nest have its tid, beside its calls; all others tids that no thread has, since viewers drop rows
/// of one tid that overlap without nesting.
void write_ranges(const Model& model, std::uint64_t pid, RowWriter& out);

}  // namespace gpuspy::analysis::kineto

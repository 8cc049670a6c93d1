// Names of device records as CUPTI's users know them.
#pragma once

#include <string>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

/// A kernel's name as written in source; "Memcpy HtoD (Pageable -> Device)", "Memset (Device)", as torch.profiler and
/// what reads its files have them.
std::string activity_name(const Model& model, const ActivityRecord& record);

}  // namespace gpuspy::analysis

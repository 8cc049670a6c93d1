// A trace -> its model, in two passes over the bytes: first what others are looked up in, then the events.
#pragma once

#include <memory>

#include "analysis/model/model.hpp"
#include "analysis/reader/byte_source.hpp"
#include "analysis/reader/fault.hpp"
#include "analysis/reader/trace_reader.hpp"

namespace gpuspy::analysis {

struct BuildOptions {
    ReadOptions reading{};
    bool timeline = false;  ///< Fill Model::timeline.
};

Result<std::unique_ptr<Model>> build_model(const ByteSource& source, const BuildOptions& options = {});

}  // namespace gpuspy::analysis

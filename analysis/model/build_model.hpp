// A trace -> its model, in two passes over the bytes: first what others are looked up in, then the events.
#pragma once

#include <cstdint>
#include <memory>

#include "analysis/model/model.hpp"
#include "analysis/reader/byte_source.hpp"
#include "analysis/reader/fault.hpp"
#include "analysis/reader/trace_reader.hpp"

namespace gpuspy::analysis {

struct BuildOptions {
    ReadOptions reading{};
    bool timeline = false;                       ///< Fill Model::timeline,
    std::uint64_t timeline_events = UINT64_MAX;  ///< unless there are more calls and device records than this.
};

Result<std::unique_ptr<Model>> build_model(const ByteSource& source, const BuildOptions& options = {});

}  // namespace gpuspy::analysis

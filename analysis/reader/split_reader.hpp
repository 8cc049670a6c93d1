// A trace read by two visitors, which may run on two threads.
#pragma once

#include "analysis/reader/trace_reader.hpp"

namespace gpuspy::analysis {

/// As read_trace_again() (trace_reader.hpp), of a file that was not read before: each visitor's names are numbered in Symbols of
/// its own.
Result<ReadSummary> read_trace_split(const ByteSource& source, Symbols& host_symbols, Visitor& host,
                                     Symbols& device_symbols, Visitor& device, bool device_thread,
                                     const ReadOptions& options = {});

}  // namespace gpuspy::analysis

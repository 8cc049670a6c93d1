// Every recorded call, one a line, as strace or perf script would print it.
#pragma once

#include <functional>
#include <string_view>

#include "analysis/reader/byte_source.hpp"
#include "analysis/reader/fault.hpp"
#include "analysis/reader/trace_reader.hpp"

namespace gpuspy::analysis {

/// Takes some lines; false: no more are wanted.
using LineSink = std::function<bool(std::string_view)>;

/// Prints the calls in the order of the file: each when it returned, so what is inside a call comes before it, indented by its
/// depth. Memory does not grow with the trace.
///
///     seconds  thread  duration  [  ...]name(argument=value, ...) = status  <- calling object
Result<ReadSummary> list_calls(const ByteSource& source, const LineSink& sink);

}  // namespace gpuspy::analysis

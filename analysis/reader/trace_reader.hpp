// A trace, block by block: memory is bounded by some twenty blocks, whatever the size of the file. What is found, verified and
// decompressed, is so on a thread of its own where the file is large enough.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/reader/byte_source.hpp"
#include "analysis/reader/fault.hpp"
#include "analysis/reader/read_summary.hpp"
#include "analysis/reader/records.hpp"
#include "analysis/reader/symbols.hpp"

namespace gpuspy::analysis {

struct ReadOptions {
    /// Off: blocks whose checksum is wrong are read all the same. For fuzzing, which could not get past a checksum.
    bool verify_checksums = true;
    /// Told after each block: where it is in the file, and how large that is, in bytes.
    std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)> progress{};
    /// Smaller files are read by one thread.
    std::uint64_t threads_from_bytes = 1U << 20;
};

/// Hands every readable record to `visitor`. A fault means that nothing could be read; what was skipped on the way is
/// in the summary. The format is collector/abi/trace_format.hpp.
Result<ReadSummary> read_trace(const ByteSource& source, Symbols& symbols, Visitor& visitor,
                               const ReadOptions& options = {});

/// Likewise for a file that was read before, whose names are in `symbols`: device records go to `device`, everything else to
/// `host`, a block first to `host` and then to `device`, which with `device_thread` runs on another thread.
Result<ReadSummary> read_trace_again(const ByteSource& source, Symbols& symbols, Visitor& host, Visitor& device,
                                     bool device_thread, const ReadOptions& options = {});

}  // namespace gpuspy::analysis

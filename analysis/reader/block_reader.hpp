// The bytes of a trace -> its blocks, verified and decompressed. What cannot be read is passed over and counted.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analysis/reader/byte_source.hpp"
#include "analysis/reader/fault.hpp"
#include "analysis/reader/read_summary.hpp"
#include "analysis/reader/records.hpp"
#include "collector/abi/trace_format.hpp"

namespace gpuspy::analysis {

struct RawBlock {
    BlockInfo info{};
    bool starts_segment = false;
    bool follows = false;   ///< On the block before it, or it starts a segment: what it refers to was read.
    bool readable = false;  ///< There is a payload.
    std::string payload;
    std::uint64_t end_position = 0;  ///< In the file.
};

class BlockReader {
public:
    BlockReader(const ByteSource& source, bool verify_checksums);

    /// The header; call it first. A fault means that nothing can be read.
    std::optional<Fault> read_header();
    /// Its records; "" if it is damaged.
    [[nodiscard]] const std::string& header_records() const { return header_records_; }
    /// Fills in the next block; false at the end.
    bool next(RawBlock& block);
    /// Without what only the records tell.
    [[nodiscard]] const ReadSummary& summary() const { return summary_; }

private:
    std::optional<abi::BlockHeader> block_at(std::uint64_t position);
    std::optional<std::uint64_t> find_block(std::uint64_t position);
    void open(const abi::BlockHeader& header, RawBlock& block);

    const ByteSource& source_;
    const bool verify_checksums_;
    ReadSummary summary_;
    std::string header_records_;
    std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> decompressor_;
    std::uint64_t hash_budget_bytes_;
    std::uint64_t position_ = 0;
    std::string stored_, columns_;
    std::uint32_t segment_ = 0, next_index_ = 0;
    bool first_ = true;
    bool just_skipped_ = false;
};

}  // namespace gpuspy::analysis

#include "analysis/reader/trace_reader.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/reader/checksum.hpp"
#include "analysis/reader/columns.hpp"
#include "analysis/reader/record_decoder.hpp"

namespace gpuspy::analysis {
namespace {

/// The command line and the environment are in it; a longer one is damage.
constexpr std::uint64_t kMaxHeaderBytes = 16U << 20;
constexpr std::size_t kSearchBytes = 1U << 16;

template <class T>
std::string_view bytes_of(const T& object) {
    return {reinterpret_cast<const char*>(&object), sizeof(T)};
}

template <class T>
std::span<std::byte> writable(T& object) {
    return std::as_writable_bytes(std::span<T, 1>(&object, 1));
}

class TraceReader {
public:
    TraceReader(const ByteSource& source, Symbols& symbols, Visitor& visitor, const ReadOptions& options)
        : source_(source),
          visitor_(visitor),
          options_(options),
          decoder_(symbols, visitor, summary_),
          decompressor_(ZSTD_createDCtx(), ZSTD_freeDCtx),
          // Each valid byte is hashed once. What is allowed above that bounds the time that a file full of false
          // block starts can take.
          hash_budget_bytes_(8 * source.size_bytes() + (64U << 20)) {
        summary_.file_bytes = source.size_bytes();
    }

    Result<ReadSummary> run() {
        std::uint64_t position = 0;
        if (const auto fault = read_header(position)) {
            return *fault;
        }
        decoder_.lose_segment();  // Until the first segment starts.
        while (position < summary_.file_bytes) {
            if (const std::optional<abi::BlockHeader> block = block_at(position)) {
                position += sizeof(abi::BlockHeader) + block->stored_bytes;
                decode_block(*block);
                if (options_.progress) {
                    options_.progress(position, summary_.file_bytes);
                }
                continue;
            }
            const std::optional<std::uint64_t> next = find_block(position + 1);
            if (!next) {
                summary_.tail_bytes = summary_.file_bytes - position;
                break;
            }
            ++summary_.bad_blocks;
            summary_.skipped_bytes += *next - position;
            just_skipped_ = true;
            position = *next;
        }
        if (summary_.header_damaged && summary_.blocks == 0) {
            return Fault{ExitCode::kNotATrace, "its header is damaged and no block in it can be read"};
        }
        return summary_;
    }

private:
    std::optional<Fault> read_header(std::uint64_t& first_block) {
        abi::FileHeader header{};
        const std::size_t got = source_.read_at(0, writable(header));
        if (got == 0) {
            return Fault{ExitCode::kNotATrace, "is empty: no trace was written to it"};
        }
        if (std::memcmp(header.magic, abi::kFileMagic, std::min(got, sizeof header.magic)) != 0) {
            return Fault{ExitCode::kNotATrace, "is not a gpuspy trace (it does not begin with GPUSPY)"};
        }
        if (got < sizeof header) {
            return Fault{ExitCode::kNotATrace, "is cut off inside its header: nothing in it can be read"};
        }
        if (header.major > abi::kFormatMajor) {
            return Fault{ExitCode::kNewerVersion,
                         fmt::format("made by a newer gpuspy: format {}.x, this one reads {}.x; use the gpuspy-report "
                                     "of the gpuspy that made it",
                                     header.major, abi::kFormatMajor)};
        }
        summary_.format_major = header.major;
        summary_.format_minor = header.minor;
        summary_.nonce = header.nonce;
        first_block = header.header_bytes;
        const bool length_is_sane = header.header_bytes >= sizeof header && header.header_bytes <= kMaxHeaderBytes;
        if (length_is_sane && header.header_bytes > summary_.file_bytes) {
            return Fault{ExitCode::kNotATrace, "is cut off inside its header: nothing in it can be read"};
        }
        std::string records(length_is_sane ? header.header_bytes - sizeof header : 0, '\0');
        source_.read_at(sizeof header, std::as_writable_bytes(std::span(records)));
        abi::FileHeader unsummed = header;
        unsummed.checksum = 0;
        const bool intact = checksum_of(bytes_of(unsummed), records) == header.checksum || !options_.verify_checksums;
        if (!length_is_sane || !intact || header.major == 0) {
            summary_.header_damaged = true;
            first_block = find_block(sizeof header).value_or(summary_.file_bytes);
            return std::nullopt;
        }
        if ((header.required_features & ~abi::kKnownFeatures) != 0) {
            return Fault{
                ExitCode::kNewerVersion,
                fmt::format("made by a newer gpuspy: it needs features (mask {:#x}) that this one does not have",
                            header.required_features & ~abi::kKnownFeatures)};
        }
        summary_.start_ticks = header.start_ticks;
        summary_.write_error =
            static_cast<int>((header.optional_features & abi::kFeatureWriteErrorMask) >> abi::kFeatureWriteErrorShift);
        decoder_.decode(records);
        return std::nullopt;
    }

    /// The header of the valid block that stands at `position`; its payload is then in stored_.
    std::optional<abi::BlockHeader> block_at(std::uint64_t position) {
        abi::BlockHeader header{};
        if (source_.read_at(position, writable(header)) != sizeof header || header.magic != abi::kBlockMagic ||
            header.raw_bytes > abi::kMaxBlockRawBytes ||
            header.stored_bytes > ZSTD_COMPRESSBOUND(abi::kMaxBlockRawBytes) ||
            header.stored_bytes > summary_.file_bytes - position - sizeof header ||
            ((header.flags & abi::kBlockStored) != 0 && header.stored_bytes != header.raw_bytes)) {
            return std::nullopt;
        }
        if (hash_budget_bytes_ < header.stored_bytes) {
            summary_.gave_up = true;
            return std::nullopt;
        }
        hash_budget_bytes_ -= header.stored_bytes;
        stored_.resize(header.stored_bytes);
        if (source_.read_at(position + sizeof header, std::as_writable_bytes(std::span(stored_))) != stored_.size()) {
            return std::nullopt;
        }
        const std::string_view summed = bytes_of(header).substr(0, offsetof(abi::BlockHeader, checksum));
        if (options_.verify_checksums && checksum_of(summed, stored_) != header.checksum) {
            return std::nullopt;
        }
        return header;
    }

    /// The first valid block at or after `position`.
    std::optional<std::uint64_t> find_block(std::uint64_t position) {
        const std::string_view magic = bytes_of(abi::kBlockMagic);
        std::string window(kSearchBytes, '\0');
        while (position + sizeof(abi::BlockHeader) <= summary_.file_bytes && !summary_.gave_up) {
            const std::size_t got = source_.read_at(position, std::as_writable_bytes(std::span(window)));
            const std::string_view seen = std::string_view(window).substr(0, got);
            for (std::size_t at = seen.find(magic); at != std::string_view::npos; at = seen.find(magic, at + 1)) {
                if (block_at(position + at)) {
                    return position + at;
                }
            }
            if (got < magic.size()) {
                break;
            }
            position += got - (magic.size() - 1);  // A magic may lie across two windows.
        }
        return std::nullopt;
    }

    void decode_block(const abi::BlockHeader& block) {
        const bool starts_segment = (block.flags & abi::kBlockSegmentStart) != 0;
        // The first block need not be that of segment 0: a trace may be cut to its last segments.
        const bool is_next = starts_segment ? block.index == 0 && (first_ || block.segment == segment_ + 1)
                                            : !first_ && block.segment == segment_ && block.index == next_index_;
        const bool follows = is_next;
        if (!is_next && !just_skipped_) {
            ++summary_.missing_blocks;
        }
        first_ = false;
        just_skipped_ = false;
        segment_ = block.segment;
        next_index_ = block.index + 1;
        if (starts_segment) {
            decoder_.begin_segment();
        } else if (!follows) {
            decoder_.lose_segment();
        }

        std::string_view payload(stored_);
        if ((block.flags & abi::kBlockStored) == 0) {
            const bool in_columns = (block.flags & abi::kBlockColumns) != 0;
            std::string& into = in_columns ? columns_ : raw_;
            into.resize(block.raw_bytes + (in_columns ? column_sizes_bytes() : 0));
            const std::size_t size =
                ZSTD_decompressDCtx(decompressor_.get(), into.data(), into.size(), stored_.data(), stored_.size());
            const bool is_whole =
                in_columns ? ZSTD_isError(size) == 0 &&
                                 put_together(std::string_view(columns_).substr(0, size), block.raw_bytes, raw_)
                           : size == block.raw_bytes;
            if (!is_whole) {
                ++summary_.bad_blocks;
                summary_.skipped_bytes += block.stored_bytes;
                decoder_.lose_segment();
                return;
            }
            payload = raw_;
        }
        const bool salvaged = (block.flags & abi::kBlockSalvaged) != 0;
        ++summary_.blocks;
        summary_.salvaged_blocks += salvaged ? 1 : 0;
        visitor_.on_block({block.segment, block.index, salvaged, block.ticks});
        decoder_.decode(payload);
    }

    const ByteSource& source_;
    Visitor& visitor_;
    ReadOptions options_;
    ReadSummary summary_;
    RecordDecoder decoder_;
    std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> decompressor_;
    std::uint64_t hash_budget_bytes_;
    std::string stored_, columns_, raw_;
    std::uint32_t segment_ = 0, next_index_ = 0;
    bool first_ = true;
    bool just_skipped_ = false;
};

}  // namespace

Result<ReadSummary> read_trace(const ByteSource& source, Symbols& symbols, Visitor& visitor,
                               const ReadOptions& options) {
    return TraceReader(source, symbols, visitor, options).run();
}

}  // namespace gpuspy::analysis

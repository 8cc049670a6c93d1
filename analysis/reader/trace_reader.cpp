#include "analysis/reader/trace_reader.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/reader/block_reader.hpp"
#include "analysis/reader/channel.hpp"
#include "analysis/reader/record_decoder.hpp"
#include "analysis/reader/split_reader.hpp"

namespace gpuspy::analysis {
namespace {

using BlockPointer = std::unique_ptr<RawBlock>;

/// Blocks wait at most so many at a time between two threads: enough that none waits for the other's every turn.
constexpr std::size_t kBlocksAhead = 8;

/// Where no thread is to be had (a limit on processes) what it would do is done by who asks for it.
template <class Work>
void start(std::jthread& thread, Work work) {
    try {
        thread = std::jthread(std::move(work));
    } catch (const std::system_error&) {
    }
}

/// Hands out blocks, read ahead on another thread or when they are asked for.
class BlockStream {
public:
    BlockStream(BlockReader& reader, bool ahead) : reader_(reader) {
        if (ahead) {
            start(thread_, [this] { read_ahead(); });
        }
    }
    BlockStream(const BlockStream&) = delete;
    BlockStream& operator=(const BlockStream&) = delete;
    ~BlockStream() { read_.abandon(); }

    /// nullptr at the end.
    BlockPointer next() {
        if (thread_.joinable()) {
            return read_.take().value_or(nullptr);
        }
        BlockPointer block = spare();
        return reader_.next(*block) ? std::move(block) : nullptr;
    }
    /// Its memory is used again.
    void give_back(BlockPointer block) {
        const std::lock_guard lock(spares_mutex_);
        spares_.push_back(std::move(block));
    }

private:
    BlockPointer spare() {
        const std::lock_guard lock(spares_mutex_);
        if (spares_.empty()) {
            return std::make_unique<RawBlock>();
        }
        BlockPointer block = std::move(spares_.back());
        spares_.pop_back();
        return block;
    }
    void read_ahead() noexcept {
        try {
            for (BlockPointer block = spare(); reader_.next(*block); block = spare()) {
                if (!read_.put(std::move(block))) {
                    return;
                }
            }
            read_.close();
        } catch (...) {
            read_.close(std::current_exception());
        }
    }

    BlockReader& reader_;
    Channel<BlockPointer> read_{kBlocksAhead};
    std::mutex spares_mutex_;
    std::vector<BlockPointer> spares_;
    std::jthread thread_;
};

/// A decoder, with what it counts, and the visitor that it tells.
class BlockDecoder {
public:
    BlockDecoder(Symbols& symbols, Visitor& visitor, RecordDecoder::Records records)
        : visitor_(visitor), decoder_(symbols, visitor, counts_, records) {
        decoder_.lose_segment();  // Until the first segment starts.
    }

    void decode_header(const std::string& records) { decoder_.decode(records); }
    void decode(const RawBlock& block) {
        if (block.starts_segment) {
            decoder_.begin_segment();
        } else if (!block.follows) {
            decoder_.lose_segment();
        }
        if (!block.readable) {
            decoder_.lose_segment();
            return;
        }
        visitor_.on_block(block.info);
        decoder_.decode(block.payload);
        visitor_.on_block_end();
    }
    void add_counts_to(ReadSummary& summary) const {
        summary.records += counts_.records;
        summary.bad_records += counts_.bad_records;
        summary.orphan_records += counts_.orphan_records;
        summary.unknown_records += counts_.unknown_records;
    }

private:
    Visitor& visitor_;
    ReadSummary counts_;
    RecordDecoder decoder_;
};

/// What comes behind another decoder: on a thread of its own, or at once.
class Follower {
public:
    Follower(BlockDecoder& decoder, BlockStream& blocks, bool threaded) : decoder_(decoder), blocks_(blocks) {
        if (threaded) {
            start(thread_, [this] { follow(); });
        }
    }
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;
    ~Follower() { waiting_.close(); }

    void take(BlockPointer block) {
        if (thread_.joinable()) {
            if (!waiting_.put(std::move(block))) {
                finish();  // It failed: that is thrown.
            }
            return;
        }
        decoder_.decode(*block);
        blocks_.give_back(std::move(block));
    }
    /// Returns when all is decoded.
    void finish() {
        if (thread_.joinable()) {
            waiting_.close();
            thread_.join();
        }
        if (failure_ != nullptr) {
            std::rethrow_exception(failure_);
        }
    }

private:
    void follow() noexcept {
        try {
            while (std::optional<BlockPointer> block = waiting_.take()) {
                decoder_.decode(**block);
                blocks_.give_back(std::move(*block));
            }
        } catch (...) {
            failure_ = std::current_exception();
            waiting_.abandon();
        }
    }

    BlockDecoder& decoder_;
    BlockStream& blocks_;
    Channel<BlockPointer> waiting_{kBlocksAhead};
    std::exception_ptr failure_;
    std::jthread thread_;
};

void tell_progress(const ReadOptions& options, const RawBlock& block, std::uint64_t all_bytes) {
    if (options.progress) {
        options.progress(block.end_position, all_bytes);
    }
}

bool with_threads(const ByteSource& source, const ReadOptions& options) {
    return source.size_bytes() >= options.threads_from_bytes;
}

Result<ReadSummary> result_of(ReadSummary summary) {
    if (summary.header_damaged && summary.blocks == 0) {
        return Fault{ExitCode::kNotATrace, "its header is damaged and no block in it can be read"};
    }
    return summary;
}

}  // namespace

Result<ReadSummary> read_trace(const ByteSource& source, Symbols& symbols, Visitor& visitor,
                               const ReadOptions& options) {
    BlockReader reader(source, options.verify_checksums);
    if (const auto fault = reader.read_header()) {
        return *fault;
    }
    BlockDecoder decoder(symbols, visitor, RecordDecoder::Records::kAll);
    decoder.decode_header(reader.header_records());
    {
        BlockStream blocks(reader, with_threads(source, options));
        while (BlockPointer block = blocks.next()) {
            decoder.decode(*block);
            tell_progress(options, *block, source.size_bytes());
            blocks.give_back(std::move(block));
        }
    }
    ReadSummary summary = reader.summary();
    decoder.add_counts_to(summary);
    return result_of(std::move(summary));
}

Result<ReadSummary> read_trace_split(const ByteSource& source, Symbols& host_symbols, Visitor& host,
                                     Symbols& device_symbols, Visitor& device, bool device_thread,
                                     const ReadOptions& options) {
    BlockReader reader(source, options.verify_checksums);
    if (const auto fault = reader.read_header()) {
        return *fault;
    }
    BlockDecoder host_decoder(host_symbols, host, RecordDecoder::Records::kHost);
    BlockDecoder device_decoder(device_symbols, device, RecordDecoder::Records::kDevice);
    host_decoder.decode_header(reader.header_records());
    const bool threaded = with_threads(source, options);
    {
        BlockStream blocks(reader, threaded);
        Follower follower(device_decoder, blocks, threaded && device_thread);
        while (BlockPointer block = blocks.next()) {
            host_decoder.decode(*block);
            tell_progress(options, *block, source.size_bytes());
            follower.take(std::move(block));
        }
        follower.finish();
    }
    ReadSummary summary = reader.summary();
    host_decoder.add_counts_to(summary);
    device_decoder.add_counts_to(summary);
    return result_of(std::move(summary));
}

Result<ReadSummary> read_trace_again(const ByteSource& source, Symbols& symbols, Visitor& host, Visitor& device,
                                     bool device_thread, const ReadOptions& options) {
    return read_trace_split(source, symbols, host, symbols, device, device_thread, options);
}

}  // namespace gpuspy::analysis

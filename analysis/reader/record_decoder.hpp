// The payload of a block -> records. Holds what a segment's records refer back to: dictionaries and previous values.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/reader/cursor.hpp"
#include "analysis/reader/read_summary.hpp"
#include "analysis/reader/records.hpp"
#include "analysis/reader/symbols.hpp"

namespace gpuspy::analysis {

class RecordDecoder {
public:
    enum class Records : std::uint8_t {
        kAll,
        kHost,    ///< Without those of a device.
        kDevice,  ///< These alone.
    };

    /// Counts what it read of `records` in `summary`.
    RecordDecoder(Symbols& symbols, Visitor& visitor, ReadSummary& summary, Records records)
        : symbols_(symbols), visitor_(visitor), summary_(summary), records_(records) {}

    /// Dictionaries empty, previous values 0.
    void begin_segment();
    /// Part of the segment is missing: until the next one only records that stand for themselves are read.
    void lose_segment() { segment_lost_ = true; }

    void decode(std::string_view payload);

private:
    struct ThreadState {
        std::uint64_t begin_ticks = 0;
        std::uint64_t correlation = 0;
        bool lost = false;  ///< A call of it could not be read: the next ones are relative to nothing.
        std::uint64_t range_ticks = 0;
        bool ranges_lost = false;  ///< Likewise.
    };

    [[nodiscard]] bool concerns(abi::Tag tag) const;
    bool decode_record(abi::Tag tag, Cursor& fields);
    bool decode_process(Cursor& fields);
    bool decode_api(Cursor& fields);
    bool decode_thread(Cursor& fields);
    bool decode_device(Cursor& fields);
    bool decode_call(Cursor& fields);
    bool decode_graph_nodes(Cursor& fields);
    bool decode_origin(Cursor& fields);
    bool decode_activity(abi::Tag tag, Cursor& fields);
    bool decode_range(Cursor& fields);
    bool decode_statement(abi::Tag tag, Cursor& fields);
    std::uint64_t dictionary_value(Cursor& fields) {
        const std::uint64_t index = fields.varint();
        return index < values_.size() ? values_[static_cast<std::size_t>(index)] : fields.fail();
    }
    std::uint32_t dictionary_text(Cursor& fields);
    /// Symbols::apis() of what has this number in the file, kNoApi if nothing has.
    [[nodiscard]] std::uint32_t api_at(std::uint64_t number) const {
        return number < apis_.size() ? apis_[static_cast<std::size_t>(number)] : kNoApi;
    }

    static constexpr std::uint32_t kNoApi = UINT32_MAX;
    static constexpr std::uint64_t kMaxApis = 1U << 16;

    Symbols& symbols_;
    Visitor& visitor_;
    ReadSummary& summary_;
    const Records records_;

    bool segment_lost_ = false;
    std::vector<std::uint64_t> values_{0};
    std::vector<std::uint32_t> texts_;                        ///< -> Symbols::text()
    std::vector<std::uint32_t> apis_;                         ///< number in the file -> Symbols::apis(), or kNoApi
    std::unordered_map<std::uint32_t, ThreadState> threads_;  ///< by Symbols::threads()
    ThreadState* thread_state_ = nullptr;
    std::uint32_t thread_ = 0;
    std::uint64_t activity_correlation_ = 0;
    std::uint64_t activity_start_ns_ = 0;
    bool activities_lost_ = false;
    std::vector<abi::GraphNode> nodes_;
    std::vector<std::int64_t> arguments_;
};

}  // namespace gpuspy::analysis

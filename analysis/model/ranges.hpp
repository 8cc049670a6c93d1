// NVTX ranges: the beginnings and ends of a trace, paired.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/model/mixed_hash.hpp"
#include "analysis/reader/records.hpp"

namespace gpuspy::analysis {

struct Range {
    enum class Kind : std::uint8_t {
        kPushPop,   ///< Of one thread; nests in its domain.
        kStartEnd,  ///< May end on another thread; overlaps as it likes.
        kMark,      ///< A moment.
    };

    Kind kind = Kind::kMark;
    bool open = false;              ///< Never ended: end_ticks is where the trace ends.
    std::uint64_t begin_ticks = 0;  ///< May lie before the recording: ranges that were open then are in it.
    std::uint64_t end_ticks = 0;    ///< Not before begin_ticks.
    std::uint32_t thread = 0;       ///< Where it began: Symbols::threads()
    std::uint32_t domain = 0;       ///< Symbols::text(); "" is the default domain.
    std::uint32_t name = 0;         ///< Symbols::text()
    std::uint32_t depth = 0;        ///< kPushPop: pushes of its thread and domain that it lies in. Else 0.

    [[nodiscard]] std::uint64_t duration_ticks() const { return end_ticks - begin_ticks; }
};

struct RangeList {
    std::vector<Range> ranges;  ///< By begin, the enclosing one first.

    // What has no counterpart: it lay outside of the recording, or an event was dropped (LossCause::kRingFull).
    std::uint64_t missing_pushes = 0;  ///< Pops of a range that is not known.
    std::uint64_t missing_pops = 0;    ///< Pushes that a push or pop of a lower or the same level ended.
    std::uint64_t missing_starts = 0;  ///< Ends of an id that is not known, or has ended.
};

/// Takes a trace's records in the order of the file, as a visitor of any pass gets them.
class RangePairer {
public:
    void add(const RangeRecord& record);

    /// `last_ticks`: when the trace ends. Call once.
    RangeList finish(std::uint64_t last_ticks);

private:
    struct OpenPush {
        std::uint64_t level;
        std::size_t at;  ///< In ranges.
    };

    std::size_t begin(const RangeRecord& record, Range::Kind kind);
    void end(std::size_t at, std::uint64_t ticks);
    void push(const RangeRecord& record);
    void pop(const RangeRecord& record);
    /// Ends the pushes of `open` whose level is `level` or more: their pops did not come.
    void close_from(std::vector<OpenPush>& open, std::uint64_t level, std::uint64_t ticks);
    void start(const RangeRecord& record);
    void end_of(const RangeRecord& record);

    RangeList list_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<OpenPush>> pushes_;  // by thread, domain
    std::unordered_map<std::uint64_t, std::size_t, MixedHash> starts_;                 // by id, those that ended too
    /// By id: its ticks. The blocks of a trace hold one thread after the other, so an end may come before its start.
    std::unordered_map<std::uint64_t, std::uint64_t, MixedHash> early_ends_;
};

}  // namespace gpuspy::analysis

#include "analysis/export/nsys_sqlite/range_rows.hpp"

#include <map>

#include "analysis/export/nsys_sqlite/enums.hpp"
#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis::nsys {
namespace {

struct RangeRow {
    NvtxType type;
    std::int64_t begin;  ///< ns since the beginning.
    SqlValue end;        ///< NULL of a moment, and of a range that never ended.
    std::uint32_t text;  ///< Symbols::text()
    std::uint32_t thread;
    std::int64_t domain;  ///< 0: the default one.
};

SqlColumn<RangeRow> not_recorded(const char* name, const char* type) {
    return {name, type, [](const RangeRow&) { return SqlValue(); }};
}

std::vector<SqlColumn<RangeRow>> columns(const Context& context) {
    return {
        {"start", "INTEGER NOT NULL", [](const RangeRow& row) { return row.begin; }},
        {"end", "INTEGER", [](const RangeRow& row) { return row.end; }},
        {"eventType", "INTEGER NOT NULL", [](const RangeRow& row) { return static_cast<std::int64_t>(row.type); }},
        not_recorded("rangeId", "INTEGER"),
        not_recorded("category", "INTEGER"),
        not_recorded("color", "INTEGER"),
        {"text", "TEXT",
         [&context](const RangeRow& row) { return valid_utf8(context.model.index.symbols.text(row.text)); }},
        {"globalTid", "INTEGER",
         [&context](const RangeRow& row) {
             return context.global_tid(context.model.index.symbols.threads()[row.thread].tid);
         }},
        not_recorded("endGlobalTid", "INTEGER"),
        // Of registered strings there, which the trace does not tell from others.
        not_recorded("textId", "INTEGER"),
        {"domainId", "INTEGER", [](const RangeRow& row) { return row.domain; }},
        not_recorded("uint64Value", "INTEGER"),
        not_recorded("int64Value", "INTEGER"),
        not_recorded("doubleValue", "REAL"),
        not_recorded("uint32Value", "INTEGER"),
        not_recorded("int32Value", "INTEGER"),
        not_recorded("floatValue", "REAL"),
        not_recorded("jsonTextId", "INTEGER"),
        not_recorded("jsonText", "TEXT"),
        not_recorded("binaryData", "TEXT"),
    };
}

NvtxType type_of(Range::Kind kind) {
    switch (kind) {
        case Range::Kind::kPushPop:
            return NvtxType::kPushPopRange;
        case Range::Kind::kStartEnd:
            return NvtxType::kStartEndRange;
        case Range::Kind::kMark:
            break;
    }
    return NvtxType::kMark;
}

}  // namespace

void write_ranges(const Context& context) {
    if (context.timeline.ranges.empty()) {
        return;
    }
    TableWriter<RangeRow> writer(context.database, "NVTX_EVENTS", columns(context));
    std::map<std::uint32_t, std::int64_t> domains;
    for (const HostRange& range : context.timeline.ranges) {
        const std::int64_t begin = context.moment(range.begin_ns);
        std::int64_t domain = 0;
        if (!context.model.index.symbols.text(range.domain).empty()) {
            const auto [found, is_new] =
                domains.try_emplace(range.domain, static_cast<std::int64_t>(domains.size()) + 1);
            domain = found->second;
            if (is_new) {
                writer.add({NvtxType::kDomainCreate, begin, SqlValue(), range.domain, range.thread, domain});
            }
        }
        const bool ended = range.kind != Range::Kind::kMark && !range.open;
        writer.add({type_of(range.kind), begin, ended ? SqlValue(context.moment(range.end_ns)) : SqlValue(), range.name,
                    range.thread, domain});
    }
}

}  // namespace gpuspy::analysis::nsys

#include "analysis/arrow/row_tables.hpp"
#include "analysis/arrow/typed_columns.hpp"

namespace gpuspy::analysis {
namespace {

const char* kind_name(Range::Kind kind) {
    switch (kind) {
        case Range::Kind::kPushPop:
            return "push_pop";
        case Range::Kind::kStartEnd:
            return "start_end";
        case Range::Kind::kMark:
            break;
    }
    return "mark";
}

}  // namespace

ColumnTable ranges_rows(std::shared_ptr<const Model> model) {
    using Row = HostRange;
    const std::int64_t origin = model->timeline->begin_ns;
    const Symbols& symbols = model->index.symbols;
    const TypedColumns<Row> columns = {
        {"kind", ArrowType::kUtf8, "", [](const Row& row) { return Cell{std::string(kind_name(row.kind))}; }},
        {"name", ArrowType::kUtf8, "", [&symbols](const Row& row) { return Cell{symbols.text(row.name)}; }},
        {"domain", ArrowType::kUtf8, "",
         [&symbols](const Row& row) {
             const std::string& domain = symbols.text(row.domain);
             return if_known(!domain.empty(), domain);
         }},
        {"tid", ArrowType::kInt64, "",
         [&symbols](const Row& row) { return Cell{std::uint64_t{symbols.threads()[row.thread].tid}}; }},
        {"begin_ns", ArrowType::kInt64, "ns", [origin](const Row& row) { return Cell{row.begin_ns - origin}; }},
        {"end_ns", ArrowType::kInt64, "ns", [origin](const Row& row) { return Cell{row.end_ns - origin}; }},
        {"duration_ns", ArrowType::kInt64, "ns", [](const Row& row) { return Cell{row.end_ns - row.begin_ns}; }},
        {"depth", ArrowType::kInt64, "count",
         [](const Row& row) { return if_known(row.kind == Range::Kind::kPushPop, std::uint64_t{row.depth}); }},
        {"never_ended", ArrowType::kBool, "", [](const Row& row) { return Cell{std::uint64_t{row.open}}; }},
    };
    return typed_table(columns, model->timeline->ranges.size(),
                       [model](std::size_t row) -> const Row& { return model->timeline->ranges[row]; });
}

}  // namespace gpuspy::analysis

// Arrow C streams as a consumer in C meets them: what they hold, and whose memory it is (run under asan).
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/arrow/row_tables.hpp"
#include "analysis/arrow/stream.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::ArrowType;
using analysis::Cell;
using analysis::ColumnTable;

namespace {

/// Rows 0, 1, 2 ...: a number that every third row lacks, a text, whether it is even.
ColumnTable sample(std::size_t rows) {
    ColumnTable table;
    table.rows = rows;
    table.columns.push_back({"number", ArrowType::kInt64, "ns",
                             [](std::size_t row) { return row % 3 == 2 ? Cell{} : Cell{std::uint64_t{row}}; }});
    table.columns.push_back(
        {"text", ArrowType::kUtf8, "", [](std::size_t row) { return Cell{std::string(row, 'x')}; }});
    table.columns.push_back(
        {"even", ArrowType::kBool, "", [](std::size_t row) { return Cell{std::uint64_t{row % 2 == 0}}; }});
    return table;
}

template <class Struct>
class Owned {
public:
    Owned() = default;
    ~Owned() { release(); }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;

    void release() {
        if (value.release != nullptr) {
            value.release(&value);
        }
    }

    Struct value{};
};

bool bit(const void* buffer, std::int64_t at) {
    return ((static_cast<const unsigned char*>(buffer)[at / 8] >> (at % 8)) & 1) != 0;
}

std::int64_t number(const ArrowArray& array, std::int64_t at) {
    return static_cast<const std::int64_t*>(array.buffers[1])[at];
}

std::string_view text(const ArrowArray& array, std::int64_t at) {
    const auto* offsets = static_cast<const std::int32_t*>(array.buffers[1]);
    const auto begin = static_cast<std::size_t>(offsets[at]);
    return {static_cast<const char*>(array.buffers[2]) + begin, static_cast<std::size_t>(offsets[at + 1]) - begin};
}

std::vector<std::int64_t> batch_lengths(ColumnTable table, const analysis::BatchLimits& limits) {
    Owned<ArrowArrayStream> stream;
    analysis::make_stream(std::move(table), stream.value, limits);
    std::vector<std::int64_t> lengths;
    while (true) {
        Owned<ArrowArray> batch;
        REQUIRE(stream.value.get_next(&stream.value, &batch.value) == 0);
        if (batch.value.release == nullptr) {
            return lengths;
        }
        lengths.push_back(batch.value.length);
    }
}

}  // namespace

TEST_CASE("arrow: a schema names columns, types and units") {
    Owned<ArrowArrayStream> stream;
    analysis::make_stream(sample(3), stream.value);
    Owned<ArrowSchema> schema;
    REQUIRE(stream.value.get_schema(&stream.value, &schema.value) == 0);
    CHECK(std::string(schema.value.format) == "+s");
    REQUIRE(schema.value.n_children == 3);
    const ArrowSchema& first = *schema.value.children[0];
    CHECK(std::string(first.name) == "number");
    CHECK(std::string(first.format) == "l");
    CHECK((first.flags & ARROW_FLAG_NULLABLE) != 0);
    const std::string_view expected("\1\0\0\0\4\0\0\0unit\2\0\0\0ns", 18);
    CHECK(std::string_view(first.metadata, expected.size()) == expected);
    CHECK(std::string(schema.value.children[1]->format) == "u");
    CHECK(schema.value.children[1]->metadata == nullptr);
    CHECK(std::string(schema.value.children[2]->format) == "b");
}

TEST_CASE("arrow: a batch has values, nulls and texts") {
    Owned<ArrowArray> batch;
    {
        Owned<ArrowArrayStream> stream;
        analysis::make_stream(sample(10), stream.value);
        REQUIRE(stream.value.get_next(&stream.value, &batch.value) == 0);
    }
    // The stream is gone; what it gave out is not.
    REQUIRE(batch.value.length == 10);
    CHECK(batch.value.null_count == 0);
    const ArrowArray& numbers = *batch.value.children[0];
    CHECK(numbers.null_count == 3);
    for (std::int64_t row = 0; row < 10; ++row) {
        CHECK(bit(numbers.buffers[0], row) == (row % 3 != 2));
        if (row % 3 != 2) {
            CHECK(number(numbers, row) == row);
        }
        CHECK(text(*batch.value.children[1], row) == std::string(static_cast<std::size_t>(row), 'x'));
        CHECK(bit(batch.value.children[2]->buffers[1], row) == (row % 2 == 0));
    }
    CHECK(batch.value.children[1]->buffers[0] == nullptr);  // None is null.
}

TEST_CASE("arrow: batches are bounded by rows and by text") {
    CHECK(batch_lengths(sample(10), {.rows = 4}) == std::vector<std::int64_t>{4, 4, 2});
    // 0 + 1 + 2 + 3 = 6, then 4, 5, 6 and so on, each enough for one.
    CHECK(batch_lengths(sample(7), {.rows = 100, .text_bytes = 6}) == std::vector<std::int64_t>{4, 2, 1});
    CHECK(batch_lengths(sample(0), {}).empty());
}

TEST_CASE("arrow: the end comes again for whoever asks again") {
    Owned<ArrowArrayStream> stream;
    analysis::make_stream(sample(1), stream.value);
    for (const bool is_there : {true, false, false}) {
        Owned<ArrowArray> batch;
        REQUIRE(stream.value.get_next(&stream.value, &batch.value) == 0);
        CHECK((batch.value.release != nullptr) == is_there);
    }
}

TEST_CASE("arrow: a stream may be released unread, in the middle, and before its batches and schema") {
    Owned<ArrowArrayStream> unread;
    analysis::make_stream(sample(10), unread.value);
    unread.release();
    CHECK(unread.value.release == nullptr);

    Owned<ArrowArrayStream> stream;
    Owned<ArrowArray> batch;
    Owned<ArrowSchema> schema, again;
    analysis::make_stream(sample(10), stream.value, {.rows = 4});
    REQUIRE(stream.value.get_next(&stream.value, &batch.value) == 0);
    REQUIRE(stream.value.get_schema(&stream.value, &schema.value) == 0);
    REQUIRE(stream.value.get_schema(&stream.value, &again.value) == 0);
    stream.release();
    CHECK(number(*batch.value.children[0], 1) == 1);
    CHECK(std::string(again.value.children[1]->name) == "text");
}

TEST_CASE("arrow: a column may be moved out of its batch and outlive it") {
    Owned<ArrowArray> column;
    {
        Owned<ArrowArrayStream> stream;
        analysis::make_stream(sample(5), stream.value);
        Owned<ArrowArray> batch;
        REQUIRE(stream.value.get_next(&stream.value, &batch.value) == 0);
        column.value = *batch.value.children[1];
        batch.value.children[1]->release = nullptr;
    }
    CHECK(text(column.value, 4) == "xxxx");
}

TEST_CASE("arrow: what goes wrong in a row is an error, and no row") {
    ColumnTable table = sample(3);
    table.columns[0].value = [](std::size_t) -> Cell { throw std::runtime_error("no such row"); };
    Owned<ArrowArrayStream> stream;
    analysis::make_stream(std::move(table), stream.value);
    Owned<ArrowArray> batch;
    CHECK(stream.value.get_next(&stream.value, &batch.value) != 0);
    CHECK(batch.value.release == nullptr);
    CHECK(std::string(stream.value.get_last_error(&stream.value)) == "no such row");
}

TEST_CASE("arrow: text that is not UTF-8 is made so") {
    ColumnTable table = sample(1);
    table.columns[1].value = [](std::size_t) { return Cell{std::string("a\xff")}; };
    Owned<ArrowArrayStream> stream;
    analysis::make_stream(std::move(table), stream.value);
    Owned<ArrowArray> batch;
    REQUIRE(stream.value.get_next(&stream.value, &batch.value) == 0);
    CHECK(text(*batch.value.children[1], 0) == "a\xef\xbf\xbd");
}

TEST_CASE("arrow: a view's column has fractions where a cell of it has") {
    auto table = std::make_shared<analysis::Table>();
    table->columns = {{"whole_ns", "", analysis::Unit::kDurationNs}, {"real_ns", "", analysis::Unit::kDurationNs}};
    table->rows = {{std::uint64_t{1}, std::uint64_t{2}}, {Cell{}, 2.5}};
    const ColumnTable columns = analysis::to_columns(table);
    CHECK(columns.columns[0].type == ArrowType::kInt64);
    CHECK(columns.columns[1].type == ArrowType::kFloat64);
    CHECK(columns.columns[0].unit == "ns");
}

TEST_CASE("arrow: rows of a trace, which live without it") {
    Owned<ArrowArrayStream> stream;
    {
        TraceBuilder trace = begun_trace();
        trace.call({.api = runtime_launch(), .begin = kStart + 100, .end = kStart + 110, .correlation = 1});
        trace.activity({.name = "_Z4scalPfi", .start = on_device(kStart + 400), .duration = 80, .correlation = 1});
        trace.end(kStart + 900'000);
        const std::shared_ptr<const analysis::Model> model = timeline_of(trace);
        analysis::make_stream(analysis::find_row_table("kernels")->make(model), stream.value);
    }
    Owned<ArrowSchema> schema;
    Owned<ArrowArray> batch;
    REQUIRE(stream.value.get_schema(&stream.value, &schema.value) == 0);
    REQUIRE(stream.value.get_next(&stream.value, &batch.value) == 0);
    REQUIRE(batch.value.length == 1);
    const auto column = [&](std::string_view name) -> const ArrowArray& {
        for (std::int64_t at = 0; at < schema.value.n_children; ++at) {
            if (schema.value.children[at]->name == name) {
                return *batch.value.children[at];
            }
        }
        FAIL(name);
        return batch.value;
    };
    CHECK(text(column("name"), 0) == "scal(float*, int)");
    CHECK(text(column("base_name"), 0) == "scal");
    CHECK(number(column("begin_ns"), 0) == 400);
    CHECK(number(column("duration_ns"), 0) == 80);
    CHECK(number(column("call"), 0) == 0);
    CHECK(column("graph_node").null_count == 1);
}

TEST_CASE("arrow: every kind of rows can be read, of a trace with everything in it") {
    TraceBuilder trace = varied_trace();
    const std::shared_ptr<const analysis::Model> model = timeline_of(trace);
    for (const analysis::RowTable& table : analysis::row_tables()) {
        CHECK(analysis::find_row_table(table.name) == &table);
        const ColumnTable rows = table.make(model);
        std::int64_t length = 0;
        for (const std::int64_t batch : batch_lengths(rows, {.rows = 2})) {
            length += batch;
        }
        CHECK(static_cast<std::size_t>(length) == rows.rows);
    }
    CHECK(analysis::find_row_table("none") == nullptr);
}

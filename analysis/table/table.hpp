// What a view says, in a form that every renderer prints: named columns with units, rows of cells. docs/report-views.md
// lists them as a program meets them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gpuspy::analysis {

/// What a number counts: how a person is shown it. JSON and CSV have the number itself, in the unit that the column's name
/// ends with.
enum class Unit : std::uint8_t {
    kText,
    kName,           ///< Text that may be long: a kernel's name. Gets what is left of the line, or one of its own.
    kCount,          ///< A whole number.
    kDurationNs,     ///< ns.
    kMomentNs,       ///< ns since the beginning of the recording.
    kBytes,          ///< Bytes.
    kShare,          ///< 0 to 1: printed as per cent.
    kNumber,         ///< Without a unit of its own: a ratio, an average of counts.
    kGigabytesPerS,  ///< 10^9 bytes a second.
    kFlops,          ///< Floating-point operations.
    kFlopsPerS,      ///< Floating-point operations a second.
};

/// The name that JSON gives a unit.
std::string_view unit_name(Unit unit);

/// monostate: not known, or does not apply. Never in the place of a 0.
using Cell = std::variant<std::monostate, std::string, std::uint64_t, std::int64_t, double>;

struct Column {
    std::string name;   ///< In JSON and CSV: "total_ns".
    std::string title;  ///< For a person: "total".
    Unit unit = Unit::kText;
};

struct Table {
    std::string name;    ///< Among those of its view: "causes".
    std::string title;   ///< For a person.
    std::string remark;  ///< Behind the title: what is counted, what not. May be empty.
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
    std::vector<std::string> notes;  ///< Sentences beneath the rows.
    bool data_only = false;          ///< For programs and charts: text has it only where it is asked for by its name.
};

/// A column of a table whose rows are made from `Row`s.
template <class Row>
struct ColumnOf {
    const char* name;
    const char* title;
    Unit unit;
    std::function<Cell(const Row&)> value;
};

/// `Rows`: a range of Row.
template <class Row, class Rows>
Table make_table(std::string name, std::string title, std::string remark, const std::vector<ColumnOf<Row>>& columns,
                 const Rows& rows) {
    Table table{std::move(name), std::move(title), std::move(remark), {}, {}, {}};
    for (const ColumnOf<Row>& column : columns) {
        table.columns.push_back({column.name, column.title, column.unit});
    }
    for (const Row& row : rows) {
        std::vector<Cell>& cells = table.rows.emplace_back();
        for (const ColumnOf<Row>& column : columns) {
            cells.push_back(column.value(row));
        }
    }
    return table;
}

}  // namespace gpuspy::analysis

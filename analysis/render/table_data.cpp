#include "analysis/render/table_data.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <string_view>
#include <type_traits>

#include "analysis/render/json.hpp"

namespace gpuspy::analysis {
namespace {

using Json = nlohmann::ordered_json;

Json cell_json(const Cell& cell) {
    return std::visit(
        [](const auto& value) -> Json {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
                return nullptr;
            } else {
                return value;
            }
        },
        cell);
}

/// A spreadsheet takes what begins so for a formula, and a name in a trace is anybody's: an apostrophe before it says text. (OWASP,
/// "CSV Injection".)
std::string csv_text(const std::string& name) {
    constexpr std::string_view kFormulaStarts = "=+-@\t\r";
    const std::string text =
        !name.empty() && kFormulaStarts.find(name.front()) != std::string_view::npos ? "'" + name : name;
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') {
            quoted += c;
        }
    }
    return quoted + "\"";
}

std::string csv_cell(const Cell& cell) {
    return std::visit(
        [](const auto& value) -> std::string {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::monostate>) {
                return {};
            } else if constexpr (std::is_same_v<Value, std::string>) {
                return csv_text(value);
            } else {
                return fmt::format("{}", value);
            }
        },
        cell);
}

}  // namespace

std::string render_csv(const Table& table) {
    std::string out;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        out += (column == 0 ? "" : ",") + csv_text(table.columns[column].name);
    }
    const bool by_row = table.has_row_units();
    out += by_row ? ",unit\n" : "\n";
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        for (std::size_t column = 0; column < table.columns.size(); ++column) {
            out += (column == 0 ? "" : ",") + csv_cell(table.rows[row][column]);
        }
        out += by_row ? fmt::format(",{}\n", unit_name(table.row_units[row])) : "\n";
    }
    return out;
}

std::string render_views_json(std::span<const ViewTables> views) {
    Json all = Json::object();
    for (const ViewTables& view : views) {
        Json& tables = all[view.view];  // One view may be asked for by several of its tables.
        for (const Table& table : view.tables) {
            Json columns = Json::array();
            for (const Column& column : table.columns) {
                columns.push_back({{"name", column.name},
                                   {"title", column.title},
                                   {"unit", column.unit_by_row ? "by row" : unit_name(column.unit)}});
            }
            const bool by_row = table.has_row_units();
            if (by_row) {
                columns.push_back({{"name", "unit"}, {"title", "unit"}, {"unit", unit_name(Unit::kText)}});
            }
            Json rows = Json::array();
            for (const std::vector<Cell>& cells : table.rows) {
                Json row = Json::object();
                for (std::size_t column = 0; column < cells.size(); ++column) {
                    row[table.columns[column].name] = cell_json(cells[column]);
                }
                if (by_row) {
                    row["unit"] = unit_name(table.row_units[rows.size()]);
                }
                rows.push_back(std::move(row));
            }
            tables[table.name] = {{"title", table.title},
                                  {"remark", table.remark},
                                  {"columns", std::move(columns)},
                                  {"rows", std::move(rows)},
                                  {"notes", table.notes}};
        }
    }
    const Json json = {{"schema", kJsonSchema}, {"views", std::move(all)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpuspy::analysis

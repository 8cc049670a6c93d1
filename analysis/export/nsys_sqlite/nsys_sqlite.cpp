// A timeline as a SQLite file with the schema of Nsight Systems' export (docs/exports.md).
#include "analysis/export/nsys_sqlite/about_rows.hpp"
#include "analysis/export/nsys_sqlite/activity_rows.hpp"
#include "analysis/export/nsys_sqlite/call_rows.hpp"
#include "analysis/export/nsys_sqlite/context.hpp"
#include "analysis/export/nsys_sqlite/enums.hpp"
#include "analysis/export/nsys_sqlite/range_rows.hpp"
#include "analysis/export/registry.hpp"
#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis {
namespace nsys {

Strings::Strings(Database& database)
    : writer_(database, "StringIds",
              {
                  {"id", "INTEGER NOT NULL PRIMARY KEY", [](const auto& row) { return row.first; }},
                  {"value", "TEXT NOT NULL", [](const auto& row) { return row.second; }},
              }) {}

std::int64_t Strings::id(std::string_view text) {
    const auto [found, added] = ids_.try_emplace(std::string(text), static_cast<std::int64_t>(ids_.size()) + 1);
    if (added) {
        writer_.add({found->second, valid_utf8(text)});
    }
    return found->second;
}

}  // namespace nsys

namespace {

void write_database(const Model& model, const Timeline& timeline, const std::string& path) {
    nsys::Database database(path);
    {
        nsys::Strings strings(database);
        const auto& process = model.index.process;
        const nsys::Context context{model, timeline, database, strings,
                                    process ? nsys::sql_number(process->pid) : std::int64_t{0}};
        nsys::write_enums(database);
        const std::vector<std::uint32_t> api_calls = nsys::api_calls(model, timeline);
        nsys::write_calls(context, api_calls);
        nsys::write_ranges(context);
        nsys::write_activities(context, api_calls);
        nsys::write_about(context);
    }
    database.finish();
}

}  // namespace

std::optional<std::string> export_nsys_sqlite(const Model& model, const std::string& path) {
    try {
        write_database(model, *model.timeline, path);
    } catch (const nsys::DatabaseError& error) {
        return error.what();
    }
    return std::nullopt;
}

}  // namespace gpuspy::analysis

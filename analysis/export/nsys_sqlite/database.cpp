#include "analysis/export/nsys_sqlite/database.hpp"

#include <sqlite3.h>

#include <type_traits>

namespace gpuspy::analysis::nsys {
namespace {

void check(int status, sqlite3* handle) {
    if (status != SQLITE_OK && status != SQLITE_DONE) {
        throw DatabaseError(handle == nullptr ? sqlite3_errstr(status) : sqlite3_errmsg(handle));
    }
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
    sqlite3_close(handle);
}

void Insertion::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Database::Database(const std::string& path) {
    sqlite3* handle = nullptr;
    const int status = sqlite3_open_v2(path.c_str(), &handle,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, "unix");
    handle_.reset(handle);
    check(status, handle);
    // A file that is given up on a fault needs no journal, and is written once.
    execute("PRAGMA journal_mode = OFF");
    execute("PRAGMA synchronous = OFF");
    execute("PRAGMA locking_mode = EXCLUSIVE");
    execute("BEGIN");
}

void Database::execute(const std::string& sql) {
    check(sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr), handle());
}

void Database::finish() {
    execute("COMMIT");
    const int status = sqlite3_close(handle());
    check(status, handle());
    static_cast<void>(handle_.release());
}

Insertion::Insertion(Database& database, const std::string& sql) : database_(database.handle()) {
    sqlite3_stmt* statement = nullptr;
    const int status = sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr);
    statement_.reset(statement);
    check(status, database_);
}

void Insertion::bind(const SqlValue& value) {
    ++bound_;
    const int status = std::visit(
        [this](const auto& cell) {
            using Cell = std::decay_t<decltype(cell)>;
            if constexpr (std::is_same_v<Cell, std::monostate>) {
                return sqlite3_bind_null(statement_.get(), bound_);
            } else if constexpr (std::is_same_v<Cell, std::int64_t>) {
                return sqlite3_bind_int64(statement_.get(), bound_, cell);
            } else {
                return sqlite3_bind_text64(statement_.get(), bound_, cell.data(), cell.size(), SQLITE_TRANSIENT,
                                           SQLITE_UTF8);
            }
        },
        value);
    check(status, database_);
}

void Insertion::insert() {
    check(sqlite3_step(statement_.get()), database_);
    check(sqlite3_reset(statement_.get()), database_);
    bound_ = 0;
}

}  // namespace gpuspy::analysis::nsys

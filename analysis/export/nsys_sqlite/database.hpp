// A SQLite file that is being written: the part of SQLite's C API that an export needs. All that fails throws
// DatabaseError with SQLite's words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace gpuspy::analysis::nsys {

class DatabaseError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// monostate is NULL.
using SqlValue = std::variant<std::monostate, std::int64_t, std::string>;

class Database {
public:
    /// `path`: a file that is empty, or not there. Nothing is safe in it before finish().
    explicit Database(const std::string& path);

    void execute(const std::string& sql);
    /// Writes all that was inserted, and closes the file.
    void finish();

    [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

private:
    struct Close {
        void operator()(sqlite3* handle) const;
    };
    std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared INSERT. Must end before its database's finish().
class Insertion {
public:
    Insertion(Database& database, const std::string& sql);

    /// The next value of the row.
    void bind(const SqlValue& value);
    void insert();

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    sqlite3* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bound_ = 0;
};

/// A column of a table whose rows are made from `Row`s.
template <class Row>
struct SqlColumn {
    const char* name;
    const char* type;  ///< With its constraints: "INTEGER NOT NULL".
    std::function<SqlValue(const Row&)> value;
};

/// Makes a table, and fills it.
template <class Row>
class TableWriter {
public:
    TableWriter(Database& database, const std::string& table, std::vector<SqlColumn<Row>> columns)
        : columns_(std::move(columns)), insertion_(make(database, table, columns_)) {}

    void add(const Row& row) {
        for (const SqlColumn<Row>& column : columns_) {
            insertion_.bind(column.value(row));
        }
        insertion_.insert();
    }

private:
    static Insertion make(Database& database, const std::string& table, const std::vector<SqlColumn<Row>>& columns) {
        std::string definition, marks;
        for (const SqlColumn<Row>& column : columns) {
            // "end" is a word of SQL.
            definition += (definition.empty() ? "\"" : ", \"") + std::string(column.name) + "\" " + column.type;
            marks += marks.empty() ? "?" : ", ?";
        }
        database.execute("CREATE TABLE " + table + " (" + definition + ")");
        return Insertion(database, "INSERT INTO " + table + " VALUES (" + marks + ")");
    }

    std::vector<SqlColumn<Row>> columns_;
    Insertion insertion_;
};

}  // namespace gpuspy::analysis::nsys

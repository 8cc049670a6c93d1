// What every table of the export is written with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/export/nsys_sqlite/database.hpp"
#include "analysis/model/model.hpp"

namespace gpuspy::analysis::nsys {

/// StringIds: each text once. Text that is not UTF-8 is made so, since readers stop at it.
class Strings {
public:
    explicit Strings(Database& database);
    std::int64_t id(std::string_view text);

private:
    std::unordered_map<std::string, std::int64_t> ids_;
    TableWriter<std::pair<std::int64_t, std::string>> writer_;
};

struct Context {
    const Model& model;
    const Timeline& timeline;
    Database& database;
    Strings& strings;
    std::int64_t pid = 0;

    /// Of CLOCK_MONOTONIC -> ns since the beginning of what is exported.
    [[nodiscard]] std::int64_t moment(std::int64_t ns) const { return ns - timeline.begin_ns; }
    /// PID = globalTid / 0x1000000 % 0x1000000, TID = globalTid % 0x1000000.
    [[nodiscard]] std::int64_t global_pid() const { return (pid & 0xffffff) << 24; }
    [[nodiscard]] std::int64_t global_tid(std::uint32_t tid) const { return global_pid() | (tid & 0xffffff); }
};

/// A number of the trace in SQLite's 64 bits, which have a sign: handles keep their bits.
inline std::int64_t sql_number(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}

}  // namespace gpuspy::analysis::nsys

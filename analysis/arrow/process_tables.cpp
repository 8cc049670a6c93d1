#include "analysis/arrow/row_tables.hpp"
#include "analysis/arrow/typed_columns.hpp"
#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis {
namespace {

using ModelPointer = std::shared_ptr<const Model>;

std::string command_of(const ProcessRecord& process) {
    std::string command;
    for (const std::string& argument : process.argv) {
        command += (command.empty() ? "" : " ") + argument;
    }
    return command;
}

template <class Row>
TypedColumn<Row> text(const char* name, std::string Row::*field) {
    return {name, ArrowType::kUtf8, "",
            [field](const Row& row) { return if_known(!(row.*field).empty(), row.*field); }};
}

/// 0 stands for what could not be asked for.
TypedColumn<DeviceRecord> property(const char* name, const char* unit, std::uint64_t DeviceRecord::*field) {
    return {name, ArrowType::kInt64, unit,
            [field](const DeviceRecord& row) { return if_known(row.*field != 0, row.*field); }};
}

}  // namespace

ColumnTable processes_rows(ModelPointer model) {
    using Row = ProcessRecord;
    const std::int64_t begin_ns = model->timeline->begin_ns;
    const std::uint64_t wall_ns = model->timeline->wall_ns();
    const TypedColumns<Row> columns = {
        {"pid", ArrowType::kInt64, "", [](const Row& row) { return Cell{row.pid}; }},
        {"ppid", ArrowType::kInt64, "", [](const Row& row) { return Cell{row.ppid}; }},
        {"rank", ArrowType::kInt64, "", [](const Row& row) { return if_known(row.rank >= 0, row.rank); }},
        text("host", &Row::host),
        text("exe", &Row::exe),
        text("cwd", &Row::cwd),
        {"command", ArrowType::kUtf8, "", [](const Row& row) { return Cell{command_of(row)}; }},
        {"begin_unix_ns", ArrowType::kInt64, "ns",
         [begin_ns](const Row& row) {
             const auto ahead = static_cast<std::int64_t>(row.start_realtime_ns - row.start_monotonic_ns);
             return if_known(row.start_realtime_ns != 0, begin_ns + ahead);
         }},
        {"wall_ns", ArrowType::kInt64, "ns", [wall_ns](const Row&) { return Cell{wall_ns}; }},
        text("gpuspy_version", &Row::gpuspy_version),
    };
    return typed_table(columns, model->index.process ? 1 : 0,
                       [model](std::size_t) -> const Row& { return *model->index.process; });
}

ColumnTable threads_rows(ModelPointer model) {
    const TypedColumns<ThreadInfo> columns = {
        {"tid", ArrowType::kInt64, "", [](const ThreadInfo& row) { return Cell{std::uint64_t{row.tid}}; }},
        text("name", &ThreadInfo::name),
    };
    return typed_table(columns, model->index.symbols.threads().size(),
                       [model](std::size_t row) -> const ThreadInfo& { return model->index.symbols.threads()[row]; });
}

ColumnTable devices_rows(ModelPointer model) {
    using Row = DeviceRecord;
    const TypedColumns<Row> columns = {
        {"device", ArrowType::kInt64, "", [](const Row& row) { return Cell{row.ordinal}; }},
        text("name", &Row::name),
        {"uuid", ArrowType::kUtf8, "", [](const Row& row) { return if_known(!row.uuid.empty(), uuid_text(row.uuid)); }},
        text("pci", &Row::pci),
        property("compute_capability_major", "", &Row::cc_major),
        {"compute_capability_minor", ArrowType::kInt64, "",
         [](const Row& row) { return if_known(row.cc_major != 0, row.cc_minor); }},
        property("sm_count", "count", &Row::sm_count),
        property("sm_clock_khz", "kHz", &Row::sm_clock_khz),
        property("memory_clock_khz", "kHz", &Row::memory_clock_khz),
        property("bus_width_bits", "bits", &Row::bus_width_bits),
        property("memory_bytes", "bytes", &Row::memory_bytes),
    };
    const auto rows = std::make_shared<std::vector<Row>>();
    for (const auto& [ordinal, device] : model->index.devices) {
        rows->push_back(device);
    }
    return typed_table(columns, rows->size(), [rows](std::size_t row) -> const Row& { return (*rows)[row]; });
}

}  // namespace gpuspy::analysis

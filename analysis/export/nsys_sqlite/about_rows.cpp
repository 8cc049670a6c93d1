#include "analysis/export/nsys_sqlite/about_rows.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <utility>
#include <vector>

#include "analysis/export/placement.hpp"
#include "analysis/flops/peaks.hpp"
#include "analysis/passes/completeness.hpp"
#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis::nsys {
namespace {

SqlValue text(std::string_view value) {
    return valid_utf8(value);
}

/// NULL for a property that the recording could not ask for.
SqlValue property(std::uint64_t value) {
    return value == 0 ? SqlValue() : SqlValue(sql_number(value));
}

void write_devices(const Context& context) {
    using Row = DeviceRecord;
    TableWriter<Row> gpus(
        context.database, "TARGET_INFO_GPU",
        {
            {"vmId", "INTEGER", [](const Row&) { return std::int64_t{0}; }},
            {"id", "INTEGER NOT NULL", [](const Row& row) { return sql_number(row.ordinal); }},
            {"name", "TEXT", [](const Row& row) { return text(row.name); }},
            {"busLocation", "TEXT", [](const Row& row) { return text(row.pci); }},
            {"totalMemory", "INTEGER", [](const Row& row) { return property(row.memory_bytes); }},
            {"memoryBandwidth", "INTEGER",  // Bytes a second.
             [](const Row& row) {
                 return property(static_cast<std::uint64_t>(std::llround(peaks_of(row).bytes.derived.value_or(0))));
             }},
            {"clockRate", "INTEGER", [](const Row& row) { return property(row.sm_clock_khz * 1000); }},  // Hz
            {"smCount", "INTEGER", [](const Row& row) { return property(row.sm_count); }},
            {"uuid", "TEXT", [](const Row& row) { return text(uuid_text(row.uuid)); }},
            {"chipName", "TEXT", [](const Row&) { return SqlValue(); }},
            {"computeMajor", "INTEGER", [](const Row& row) { return property(row.cc_major); }},
            {"computeMinor", "INTEGER",
             [](const Row& row) { return row.cc_major == 0 ? SqlValue() : SqlValue(sql_number(row.cc_minor)); }},
        });
    TableWriter<Row> devices(
        context.database, "TARGET_INFO_CUDA_DEVICE",
        {
            {"gpuId", "INTEGER", [](const Row& row) { return sql_number(row.ordinal); }},
            {"cudaId", "INTEGER NOT NULL", [](const Row& row) { return sql_number(row.ordinal); }},
            {"pid", "INTEGER NOT NULL", [&context](const Row&) { return context.pid; }},
            {"uuid", "TEXT", [](const Row& row) { return text(uuid_text(row.uuid)); }},
            {"numMultiprocessors", "INTEGER", [](const Row& row) { return property(row.sm_count); }},
        });
    for (const auto& [ordinal, device] : context.model.index.devices) {
        gpus.add(device);
        devices.add(device);
    }
}

void write_threads(const Context& context) {
    struct Process {
        std::string name;
    };
    TableWriter<Process> processes(
        context.database, "PROCESSES",
        {
            {"globalPid", "INTEGER", [&context](const Process&) { return context.global_pid(); }},
            {"pid", "INTEGER", [&context](const Process&) { return context.pid; }},
            {"name", "TEXT", [](const Process& row) { return text(row.name); }},
        });
    if (const auto& process = context.model.index.process) {
        processes.add({process->exe});
    }
    TableWriter<ThreadInfo> names(
        context.database, "ThreadNames",
        {
            {"nameId", "INTEGER NOT NULL", [&context](const ThreadInfo& row) { return context.strings.id(row.name); }},
            {"priority", "INTEGER", [](const ThreadInfo&) { return SqlValue(); }},
            {"globalTid", "INTEGER", [&context](const ThreadInfo& row) { return context.global_tid(row.tid); }},
        });
    for (const ThreadInfo& thread : context.model.index.symbols.threads()) {
        if (!thread.name.empty()) {
            names.add(thread);
        }
    }
}

void write_time(const Context& context) {
    struct Start {
        std::int64_t utc_ns;
    };
    TableWriter<Start> start(context.database, "TARGET_INFO_SESSION_START_TIME",
                             {
                                 {"utcEpochNs", "INTEGER", [](const Start& row) { return row.utc_ns; }},
                                 {"utcTime", "TEXT",
                                  [](const Start& row) {
                                      const std::time_t seconds = row.utc_ns / 1'000'000'000;
                                      return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(seconds));
                                  }},
                             });
    if (const auto& process = context.model.index.process; process && process->start_realtime_ns != 0) {
        start.add({sql_number(process->start_realtime_ns) - sql_number(process->start_monotonic_ns) +
                   context.timeline.begin_ns});
    }
    struct Details {};
    TableWriter<Details> details(
        context.database, "ANALYSIS_DETAILS",
        {
            {"globalVid", "INTEGER", [](const Details&) { return std::int64_t{0}; }},
            {"duration", "INTEGER", [&context](const Details&) { return sql_number(context.timeline.wall_ns()); }},
            {"startTime", "INTEGER", [](const Details&) { return std::int64_t{0}; }},
            {"stopTime", "INTEGER", [&context](const Details&) { return sql_number(context.timeline.wall_ns()); }},
        });
    details.add({});
}

std::vector<std::string> what_is_missing(const Context& context) {
    std::vector<std::string> lines = completeness(context.model).reasons;
    for (std::string& sentence : remarks(place_activities(context.timeline))) {
        lines.push_back(std::move(sentence));
    }
    if (context.model.index.reading.partial()) {
        lines.push_back("the trace is partly readable: " + context.model.index.reading.describe());
    }
    return lines;
}

void write_diagnostics(const Context& context) {
    struct Diagnostic {
        std::int64_t timestamp, severity;
        std::string text;
    };
    TableWriter<Diagnostic> writer(
        context.database, "DIAGNOSTIC_EVENT",
        {
            {"timestamp", "INTEGER NOT NULL", [](const Diagnostic& row) { return row.timestamp; }},
            {"timestampType", "INTEGER NOT NULL", [](const Diagnostic&) { return std::int64_t{1}; }},  // target
            {"source", "INTEGER NOT NULL", [](const Diagnostic&) { return std::int64_t{1}; }},         // injection
            {"severity", "INTEGER NOT NULL", [](const Diagnostic& row) { return row.severity; }},
            {"text", "TEXT NOT NULL", [](const Diagnostic& row) { return text(row.text); }},
            {"globalPid", "INTEGER", [&context](const Diagnostic&) { return context.global_pid(); }},
        });
    constexpr std::int64_t kInfo = 1;
    constexpr std::int64_t kWarning = 2;
    for (const std::string& line : what_is_missing(context)) {
        writer.add({sql_number(context.timeline.wall_ns()), kWarning, line});
    }
    for (const Notice& notice : context.model.index.notices) {
        writer.add({context.moment(context.model.index.host_clock.at(notice.ticks)), kInfo, notice.text});
    }
}

void write_properties(const Context& context) {
    using Row = std::pair<std::string, std::string>;
    const std::vector<SqlColumn<Row>> columns = {
        {"name", "TEXT NOT NULL", [](const Row& row) { return text(row.first); }},
        {"value", "TEXT", [](const Row& row) { return text(row.second); }},
    };
    const auto& process = context.model.index.process;
    TableWriter<Row> about_export(context.database, "META_DATA_EXPORT", columns);
    const Row rows[] = {
        {"EXPORT_PRODUCT_NAME", "gpuspy"},
        {"EXPORT_PRODUCT_VERSION", process ? process->gpuspy_version : ""},
        // The version of the schema whose tables these are.
        {"EXPORT_SCHEMA_VERSION", "3.16.0"},
        {"EXPORT_SCHEMA_VERSION_MAJOR", "3"},
        {"EXPORT_SCHEMA_VERSION_MINOR", "16"},
        {"EXPORT_SCHEMA_VERSION_MICRO", "0"},
    };
    for (const Row& row : rows) {
        about_export.add(row);
    }
    TableWriter<Row> about_capture(context.database, "META_DATA_CAPTURE", columns);
    if (process) {
        about_capture.add({"PROCESS_0:COMMAND", process->exe});
        for (std::size_t argument = 1; argument < process->argv.size(); ++argument) {
            about_capture.add({fmt::format("PROCESS_0:ARGUMENT_{}", argument - 1), process->argv[argument]});
        }
    }
}

}  // namespace

void write_about(const Context& context) {
    write_devices(context);
    write_threads(context);
    write_time(context);
    write_diagnostics(context);
    write_properties(context);
}

}  // namespace gpuspy::analysis::nsys

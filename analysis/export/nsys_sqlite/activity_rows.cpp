#include "analysis/export/nsys_sqlite/activity_rows.hpp"

#include <algorithm>
#include <optional>

#include "analysis/export/nsys_sqlite/call_rows.hpp"
#include "analysis/export/nsys_sqlite/enums.hpp"
#include "analysis/render/kernel_name.hpp"

namespace gpuspy::analysis::nsys {
namespace {

struct ActivityRow {
    const ActivityRecord& record;
    std::int64_t begin;        ///< ns since the beginning.
    std::int64_t correlation;  ///< Of the call that launched it; of its own where none is known.
};

using Columns = std::vector<SqlColumn<ActivityRow>>;

/// A column with a number of the record that is always there.
template <class Value>
SqlColumn<ActivityRow> number(const char* name, Value value) {
    return {name, "INTEGER NOT NULL",
            [value](const ActivityRow& row) { return sql_number(std::uint64_t{value(row.record)}); }};
}

SqlColumn<ActivityRow> not_recorded(const char* name) {
    return {name, "INTEGER", [](const ActivityRow&) { return SqlValue(); }};
}

Columns common_columns(const Context& context) {
    return {
        {"start", "INTEGER NOT NULL", [](const ActivityRow& row) { return row.begin; }},
        // Not DeviceActivity::end_ns: two clocks that drift apart would change a duration by a ns.
        {"end", "INTEGER NOT NULL",
         [](const ActivityRow& row) { return row.begin + sql_number(row.record.duration_ns); }},
        number("deviceId", [](const ActivityRecord& record) { return record.device; }),
        number("contextId", [](const ActivityRecord& record) { return record.context; }),
        not_recorded("greenContextId"),
        number("streamId", [](const ActivityRecord& record) { return record.stream; }),
        {"correlationId", "INTEGER", [](const ActivityRow& row) { return row.correlation; }},
        {"globalPid", "INTEGER", [&context](const ActivityRow&) { return context.global_pid(); }},
    };
}

/// CUPTI's: the executable graph's id in the high half.
SqlColumn<ActivityRow> graph_node_column() {
    return {"graphNodeId", "INTEGER", [](const ActivityRow& row) {
                const ActivityRecord& record = row.record;
                return record.has(abi::kDeviceGraph)
                           ? SqlValue(sql_number((record.graph_exec_id << 32U) | (record.graph_node & 0xffffffffU)))
                           : SqlValue();
            }};
}

Columns operator+(Columns columns, const Columns& behind) {
    columns.insert(columns.end(), behind.begin(), behind.end());
    return columns;
}

SqlColumn<ActivityRow> name_column(const Context& context, const char* column, NameForm form) {
    return {column, "INTEGER NOT NULL",
            [&context, form, ids = std::unordered_map<std::uint32_t, std::int64_t>()](const ActivityRow& row) mutable {
                const auto [found, added] = ids.try_emplace(row.record.name);
                if (added) {
                    found->second = context.strings.id(kernel_name(context.model.kernel_name(row.record.name), form));
                }
                return found->second;
            }};
}

Columns kernel_columns(const Context& context) {
    return common_columns(context) +
           Columns{
               name_column(context, "demangledName", NameForm::kFull),
               name_column(context, "shortName", NameForm::kBase),
               name_column(context, "mangledName", NameForm::kMangled),
               number("registersPerThread", [](const ActivityRecord& record) { return record.registers; }),
               number("gridX", [](const ActivityRecord& record) { return record.grid[0]; }),
               number("gridY", [](const ActivityRecord& record) { return record.grid[1]; }),
               number("gridZ", [](const ActivityRecord& record) { return record.grid[2]; }),
               number("blockX", [](const ActivityRecord& record) { return record.block[0]; }),
               number("blockY", [](const ActivityRecord& record) { return record.block[1]; }),
               number("blockZ", [](const ActivityRecord& record) { return record.block[2]; }),
               number("staticSharedMemory", [](const ActivityRecord& record) { return record.static_shared_bytes; }),
               number("dynamicSharedMemory", [](const ActivityRecord& record) { return record.dynamic_shared_bytes; }),
               not_recorded("localMemoryPerThread"),
               not_recorded("localMemoryTotal"),
               not_recorded("gridId"),
               graph_node_column(),
               not_recorded("graphId"),
           };
}

Columns copy_columns(const Context& context) {
    return common_columns(context) +
           Columns{
               number("bytes", [](const ActivityRecord& record) { return record.bytes; }),
               number("copyKind", [](const ActivityRecord& record) { return record.copy_kind; }),
               {"srcKind", "INTEGER", [](const ActivityRow& row) { return memory_kind(row.record.source_memory); }},
               {"dstKind", "INTEGER",
                [](const ActivityRow& row) { return memory_kind(row.record.destination_memory); }},
               graph_node_column(),
           };
}

Columns set_columns(const Context& context) {
    return common_columns(context) +
           Columns{
               not_recorded("value"),
               number("bytes", [](const ActivityRecord& record) { return record.bytes; }),
               graph_node_column(),
               {"memKind", "INTEGER",
                [](const ActivityRow& row) { return memory_kind(row.record.destination_memory); }},
           };
}

/// When the timeline's activities count from: where the device's clock is not known, their own first moment.
std::int64_t origin_ns(const Timeline& timeline) {
    if (timeline.device_clock_known) {
        return timeline.begin_ns;
    }
    std::optional<std::int64_t> first_ns;
    for (const DeviceActivity& activity : timeline.activities) {
        if (activity.timed) {
            first_ns = std::min(first_ns.value_or(activity.begin_ns), activity.begin_ns);
        }
    }
    return first_ns.value_or(0);
}

}  // namespace

void write_activities(const Context& context, const std::vector<std::uint32_t>& api_calls) {
    TableWriter<ActivityRow> kernels(context.database, "CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns(context));
    TableWriter<ActivityRow> copies(context.database, "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns(context));
    TableWriter<ActivityRow> sets(context.database, "CUPTI_ACTIVITY_KIND_MEMSET", set_columns(context));
    const std::int64_t origin = origin_ns(context.timeline);
    std::int64_t next_correlation = correlation_id(static_cast<std::uint32_t>(context.timeline.calls.size()));
    for (const DeviceActivity& activity : context.timeline.activities) {
        if (!activity.timed) {
            continue;
        }
        const std::uint32_t api_call = activity.call == kNone ? kNone : api_calls[activity.call];
        const std::int64_t correlation = api_call != kNone        ? correlation_id(api_call)
                                         : activity.call != kNone ? correlation_id(activity.call)
                                                                  : next_correlation++;
        const ActivityRow row{activity.record, activity.begin_ns - origin, correlation};
        (activity.record.kind == ActivityKind::kKernel   ? kernels
         : activity.record.kind == ActivityKind::kMemcpy ? copies
                                                         : sets)
            .add(row);
    }
}

}  // namespace gpuspy::analysis::nsys

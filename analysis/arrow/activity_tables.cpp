#include <unordered_map>

#include "analysis/arrow/row_tables.hpp"
#include "analysis/arrow/typed_columns.hpp"
#include "analysis/render/kernel_name.hpp"

namespace gpuspy::analysis {
namespace {

using ModelPointer = std::shared_ptr<const Model>;

using Activity = DeviceActivity;
using Columns = TypedColumns<Activity>;

template <class Value>
TypedColumn<Activity> number(const char* name, const char* unit, Value value) {
    return {name, ArrowType::kInt64, unit,
            [value](const Activity& row) { return Cell{std::uint64_t{value(row.record)}}; }};
}

Columns common_columns(const ModelPointer& model) {
    const Model& of = *model;
    const std::int64_t origin = of.timeline->begin_ns;
    // In the device's own clock a moment says nothing beside those of calls.
    const bool comparable = of.timeline->device_clock_known;
    return {
        {"begin_ns", ArrowType::kInt64, "ns",
         [=](const Activity& row) { return if_known(row.timed && comparable, row.begin_ns - origin); }},
        {"end_ns", ArrowType::kInt64, "ns",
         [=](const Activity& row) { return if_known(row.timed && comparable, row.end_ns - origin); }},
        {"duration_ns", ArrowType::kInt64, "ns",
         [](const Activity& row) { return if_known(row.timed, row.record.duration_ns); }},
        number("device", "", [](const ActivityRecord& record) { return record.device; }),
        number("context", "", [](const ActivityRecord& record) { return record.context; }),
        number("stream", "", [](const ActivityRecord& record) { return record.stream; }),
        number("correlation", "", [](const ActivityRecord& record) { return record.correlation; }),
        {"call", ArrowType::kInt64, "", [](const Activity& row) { return link(row.call); }},
        {"owner", ArrowType::kUtf8, "", [&of](const Activity& row) { return Cell{of.owners.at(row.owner).name}; }},
        {"owner_library", ArrowType::kUtf8, "",
         [&of](const Activity& row) {
             const std::string& library = of.owners.at(row.owner).library;
             return if_known(!library.empty(), library);
         }},
        {"graph_exec", ArrowType::kInt64, "",
         [](const Activity& row) { return if_known(row.record.has(abi::kDeviceGraph), row.record.graph_exec_id); }},
        {"graph_node", ArrowType::kInt64, "",
         [](const Activity& row) { return if_known(row.record.has(abi::kDeviceGraph), row.record.graph_node); }},
    };
}

/// A name is demangled once, however many kernels bear it.
TypedColumn<Activity> name_column(const Model& model, const char* column, NameForm form) {
    const auto names = std::make_shared<std::unordered_map<std::uint32_t, std::string>>();
    return {column, ArrowType::kUtf8, "", [&model, form, names](const Activity& row) {
                const auto [found, added] = names->try_emplace(row.record.name);
                if (added) {
                    found->second = kernel_name(model.kernel_name(row.record.name), form);
                }
                return Cell{found->second};
            }};
}

/// CUpti_ActivityMemoryKind (cupti_activity.h).
Cell memory_name(std::uint32_t kind) {
    static constexpr const char* kNames[] = {"pageable", "pinned",        "device",        "array",
                                             "managed",  "device static", "managed static"};
    return kind == 0 || kind > std::size(kNames) ? Cell{} : Cell{std::string(kNames[kind - 1])};
}

ColumnTable activities_of(const ModelPointer& model, ActivityKind kind, const Columns& columns) {
    const auto positions = std::make_shared<std::vector<std::uint32_t>>();
    for (std::uint32_t position = 0; position < model->timeline->activities.size(); ++position) {
        if (model->timeline->activities[position].record.kind == kind) {
            positions->push_back(position);
        }
    }
    return typed_table(columns, positions->size(), [model, positions](std::size_t row) -> const Activity& {
        return model->timeline->activities[(*positions)[row]];
    });
}

}  // namespace

ColumnTable kernels_rows(ModelPointer model) {
    return activities_of(
        model, ActivityKind::kKernel,
        Columns{name_column(*model, "name", NameForm::kFull), name_column(*model, "base_name", NameForm::kBase),
                name_column(*model, "mangled_name", NameForm::kMangled)} +
            common_columns(model) +
            Columns{
                {"captured_call", ArrowType::kInt64, "", [](const Activity& row) { return link(row.captured_call); }},
                number("grid_x", "", [](const ActivityRecord& r) { return r.grid[0]; }),
                number("grid_y", "", [](const ActivityRecord& r) { return r.grid[1]; }),
                number("grid_z", "", [](const ActivityRecord& r) { return r.grid[2]; }),
                number("block_x", "", [](const ActivityRecord& r) { return r.block[0]; }),
                number("block_y", "", [](const ActivityRecord& r) { return r.block[1]; }),
                number("block_z", "", [](const ActivityRecord& r) { return r.block[2]; }),
                number("registers", "", [](const ActivityRecord& r) { return r.registers; }),
                number("static_shared_bytes", "bytes", [](const ActivityRecord& r) { return r.static_shared_bytes; }),
                number("dynamic_shared_bytes", "bytes", [](const ActivityRecord& r) { return r.dynamic_shared_bytes; }),
            });
}

ColumnTable copies_rows(ModelPointer model) {
    return activities_of(
        model, ActivityKind::kMemcpy,
        Columns{
            number("bytes", "bytes", [](const ActivityRecord& record) { return record.bytes; }),
            number("copy_kind", "", [](const ActivityRecord& record) { return record.copy_kind; }),
            {"source", ArrowType::kUtf8, "", [](const Activity& row) { return memory_name(row.record.source_memory); }},
            {"destination", ArrowType::kUtf8, "",
             [](const Activity& row) { return memory_name(row.record.destination_memory); }},
            {"asynchronous", ArrowType::kBool, "",
             [](const Activity& row) { return Cell{std::uint64_t{row.record.has(abi::kDeviceAsync)}}; }}} +
            common_columns(model));
}

ColumnTable sets_rows(ModelPointer model) {
    return activities_of(model, ActivityKind::kMemset,
                         Columns{number("bytes", "bytes", [](const ActivityRecord& record) { return record.bytes; }),
                                 {"memory", ArrowType::kUtf8, "",
                                  [](const Activity& row) { return memory_name(row.record.destination_memory); }}} +
                             common_columns(model));
}

}  // namespace gpuspy::analysis

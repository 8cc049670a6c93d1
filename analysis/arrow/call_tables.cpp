#include <map>
#include <optional>

#include "analysis/arrow/row_tables.hpp"
#include "analysis/arrow/typed_columns.hpp"

namespace gpuspy::analysis {
namespace {

using ModelPointer = std::shared_ptr<const Model>;

struct CallRow {
    std::uint32_t position = 0;  ///< In Timeline::calls.
    const HostCall* call = nullptr;
    const ApiInfo* api = nullptr;
};

CallRow call_row(const Model& model, std::uint32_t position) {
    const HostCall& call = model.timeline->calls[position];
    return {position, &call, &model.index.symbols.api(call.api)};
}

/// Row: has a `call_row()`.
template <class Row>
TypedColumns<Row> common_columns(const ModelPointer& model) {
    const std::int64_t origin = model->timeline->begin_ns;
    const Model& of = *model;
    return {
        {"call", ArrowType::kInt64, "", [](const Row& row) { return Cell{std::uint64_t{row.position}}; }},
        {"tid", ArrowType::kInt64, "",
         [&of](const Row& row) { return Cell{std::uint64_t{of.index.symbols.threads()[row.call->thread].tid}}; }},
        {"begin_ns", ArrowType::kInt64, "ns", [origin](const Row& row) { return Cell{row.call->begin_ns - origin}; }},
        {"end_ns", ArrowType::kInt64, "ns", [origin](const Row& row) { return Cell{row.call->end_ns - origin}; }},
        {"duration_ns", ArrowType::kInt64, "ns", [](const Row& row) { return Cell{row.call->duration_ns()}; }},
        {"api", ArrowType::kUtf8, "", [](const Row& row) { return Cell{row.api->name}; }},
        {"library", ArrowType::kUtf8, "", [](const Row& row) { return Cell{row.api->library}; }},
        {"owner", ArrowType::kUtf8, "", [&of](const Row& row) { return Cell{of.owners.at(row.call->owner).name}; }},
        {"status", ArrowType::kInt64, "", [](const Row& row) { return Cell{row.call->status}; }},
        {"failed", ArrowType::kBool, "",
         [](const Row& row) { return Cell{std::uint64_t{row.call->has(abi::kCallStatus)}}; }},
        {"captured", ArrowType::kBool, "",
         [](const Row& row) { return Cell{std::uint64_t{row.call->has(abi::kCallCaptured)}}; }},
        {"correlation", ArrowType::kInt64, "",
         [](const Row& row) { return if_known(row.call->has(abi::kCallCorrelation), row.call->correlation); }},
        {"stream_handle", ArrowType::kUint64, "",
         [](const Row& row) { return if_known(row.call->has(abi::kCallStream), row.call->stream); }},
        {"parent", ArrowType::kInt64, "", [](const Row& row) { return link(row.call->parent); }},
        {"library_call", ArrowType::kInt64, "", [](const Row& row) { return link(row.call->library); }},
    };
}

struct LaunchRow : CallRow {
    std::uint64_t kernels = 0;  ///< Device records; of a graph launch its kernels.
    std::uint64_t gpu_ns = 0;   ///< Of those with a time.
    std::uint64_t timed = 0;
    std::optional<std::int64_t> first_begin_ns;
};

std::vector<LaunchRow> launch_rows(const Model& model) {
    std::map<std::uint32_t, LaunchRow> launches;  // by position
    for (std::uint32_t position = 0; position < model.timeline->calls.size(); ++position) {
        if (model.timeline->calls[position].is_launch) {
            static_cast<CallRow&>(launches[position]) = call_row(model, position);
        }
    }
    for (const DeviceActivity& activity : model.timeline->activities) {
        const auto found = launches.find(activity.call);
        if (activity.record.kind != ActivityKind::kKernel || found == launches.end()) {
            continue;
        }
        LaunchRow& row = found->second;
        ++row.kernels;
        if (activity.timed) {
            ++row.timed;
            row.gpu_ns += activity.record.duration_ns;
            row.first_begin_ns = std::min(row.first_begin_ns.value_or(activity.begin_ns), activity.begin_ns);
        }
    }
    std::vector<LaunchRow> rows;
    rows.reserve(launches.size());
    for (const auto& [position, row] : launches) {
        rows.push_back(row);
    }
    return rows;
}

}  // namespace

ColumnTable calls_rows(ModelPointer model) {
    const TypedColumns<CallRow> columns =
        common_columns<CallRow>(model) +
        TypedColumns<CallRow>{
            {"launch", ArrowType::kBool, "",
             [](const CallRow& row) { return Cell{std::uint64_t{row.call->is_launch}}; }},
            {"blocking", ArrowType::kBool, "",
             [](const CallRow& row) { return Cell{std::uint64_t{row.api->blocking()}}; }},
            {"copy_bytes", ArrowType::kInt64, "bytes",
             [](const CallRow& row) { return if_known(row.call->has(abi::kCallCopy), row.call->copy_bytes); }},
        };
    return typed_table(columns, model->timeline->calls.size(),
                       [model](std::size_t row) { return call_row(*model, static_cast<std::uint32_t>(row)); });
}

ColumnTable launches_rows(ModelPointer model) {
    const bool comparable = model->timeline->device_clock_known;
    const TypedColumns<LaunchRow> columns =
        common_columns<LaunchRow>(model) +
        TypedColumns<LaunchRow>{
            {"kernels", ArrowType::kInt64, "count", [](const LaunchRow& row) { return Cell{row.kernels}; }},
            {"gpu_ns", ArrowType::kInt64, "ns",
             [](const LaunchRow& row) { return if_known(row.timed != 0, row.gpu_ns); }},
            {"queue_ns", ArrowType::kInt64, "ns",
             [comparable](const LaunchRow& row) {
                 return comparable && row.first_begin_ns
                            ? Cell{std::max<std::int64_t>(0, *row.first_begin_ns - row.call->end_ns)}
                            : Cell{};
             }},
        };
    const auto rows = std::make_shared<const std::vector<LaunchRow>>(launch_rows(*model));
    return typed_table(columns, rows->size(), [model, rows](std::size_t row) { return (*rows)[row]; });
}

}  // namespace gpuspy::analysis

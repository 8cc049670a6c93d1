#include "analysis/export/nsys_sqlite/call_rows.hpp"

#include <optional>
#include <string_view>

#include "analysis/export/launch_rows.hpp"
#include "analysis/export/nsys_sqlite/enums.hpp"

namespace gpuspy::analysis::nsys {
namespace {

struct CallRow {
    const HostCall& call;
    std::uint32_t position;  ///< In Timeline::calls.
    const ApiInfo& api;
};

bool is_cublas(std::string_view library) {
    return library.starts_with("cublas");
}

std::optional<SyncType> sync_type(const ApiInfo& api) {
    const auto named = [&api](std::string_view part) { return api.name.find(part) != std::string::npos; };
    if (named("StreamWaitEvent")) {
        return SyncType::kStreamWaitEvent;
    }
    if (api.api_class != abi::ApiClass::kSync) {
        return std::nullopt;
    }
    return named("EventSynchronize")    ? SyncType::kEventSynchronize
           : named("StreamSynchronize") ? SyncType::kStreamSynchronize
           : named("DeviceSynchronize") || named("CtxSynchronize") || named("ThreadSynchronize")
               ? SyncType::kContextSynchronize
               : SyncType::kUnknown;
}

/// The one device and context of the process, as they stand in the device records; nullopt: there are several, or none.
struct OnlyContext {
    std::optional<std::int64_t> device, context;

    explicit OnlyContext(const Timeline& timeline) {
        for (const DeviceActivity& activity : timeline.activities) {
            const std::int64_t at_device = sql_number(activity.record.device);
            const std::int64_t in_context = sql_number(activity.record.context);
            if (!device) {
                device = at_device;
                context = in_context;
            } else if (device != at_device || context != in_context) {
                device = context = std::nullopt;
                return;
            }
        }
    }
};

SqlValue known(const std::optional<std::int64_t>& value) {
    return value ? SqlValue(*value) : SqlValue();
}

class CallTables {
public:
    explicit CallTables(const Context& context)
        : context_(context),
          only_(context.timeline),
          runtime_(context.database, "CUPTI_ACTIVITY_KIND_RUNTIME", call_columns()),
          nested_(context.database, "GPUSPY_NESTED_CALLS", call_columns()),
          cudnn_(context.database, "CUDNN_EVENTS", event_columns()),
          cublas_(context.database, "CUBLAS_EVENTS", event_columns()),
          library_(context.database, "GPUSPY_LIBRARY_EVENTS", library_columns()),
          syncs_(context.database, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync_columns()) {}

    void add(std::uint32_t position, std::uint32_t api_call) {
        const HostCall& call = context_.timeline.calls[position];
        const CallRow row{call, position, context_.model.index.symbols.api(call.api)};
        if (row.api.level == abi::ApiLevel::kLibrary) {
            (row.api.library == "cudnn" ? cudnn_ : is_cublas(row.api.library) ? cublas_ : library_).add(row);
        } else if (api_call != position) {
            nested_.add(row);
        } else {
            runtime_.add(row);
            if (sync_type(row.api)) {
                syncs_.add(row);
            }
        }
    }

private:
    using Columns = std::vector<SqlColumn<CallRow>>;

    [[nodiscard]] Columns times() const {
        return {
            {"start", "INTEGER NOT NULL", [this](const CallRow& row) { return context_.moment(row.call.begin_ns); }},
            {"end", "INTEGER NOT NULL",
             [this](const CallRow& row) {
                 return context_.moment(row.call.begin_ns) + sql_number(row.call.duration_ns());
             }},
        };
    }

    [[nodiscard]] Columns event_columns() const {
        Columns columns = times();
        columns.push_back({"eventClass", "INTEGER NOT NULL", [](const CallRow& row) {
                               return static_cast<std::int64_t>(row.api.library == "cudnn"   ? EventClass::kCudnn
                                                                : is_cublas(row.api.library) ? EventClass::kCublas
                                                                : row.api.level == abi::ApiLevel::kDriver
                                                                    ? EventClass::kCudaDriver
                                                                    : EventClass::kCudaRuntime);
                           }});
        columns.push_back({"globalTid", "INTEGER", [this](const CallRow& row) {
                               const auto& threads = context_.model.index.symbols.threads();
                               return context_.global_tid(threads[row.call.thread].tid);
                           }});
        columns.push_back({"nameId", "INTEGER NOT NULL",
                           [this](const CallRow& row) { return context_.strings.id(public_name(row.api.name)); }});
        return columns;
    }

    [[nodiscard]] Columns call_columns() const {
        Columns columns = event_columns();
        columns.insert(columns.end() - 1,
                       {"correlationId", "INTEGER", [](const CallRow& row) { return correlation_id(row.position); }});
        columns.push_back(
            {"returnValue", "INTEGER NOT NULL", [](const CallRow& row) { return std::int64_t{row.call.status}; }});
        columns.push_back({"callchainId", "INTEGER", [](const CallRow&) { return SqlValue(); }});
        return columns;
    }

    [[nodiscard]] Columns library_columns() const {
        Columns columns = event_columns();
        columns.erase(columns.begin() + 2);  // Nsight Systems has no class for them.
        columns.push_back({"libraryId", "INTEGER NOT NULL",
                           [this](const CallRow& row) { return context_.strings.id(row.api.library); }});
        return columns;
    }

    [[nodiscard]] Columns sync_columns() const {
        Columns columns = times();
        const auto unknown = [](const CallRow&) { return SqlValue(); };
        const Columns rest = {
            {"deviceId", "INTEGER", [this](const CallRow&) { return known(only_.device); }},
            {"contextId", "INTEGER", [this](const CallRow&) { return known(only_.context); }},
            {"greenContextId", "INTEGER", unknown},
            {"streamId", "INTEGER", unknown},
            {"correlationId", "INTEGER", [](const CallRow& row) { return correlation_id(row.position); }},
            {"globalPid", "INTEGER", [this](const CallRow&) { return context_.global_pid(); }},
            {"syncType", "INTEGER NOT NULL",
             [](const CallRow& row) {
                 return static_cast<std::int64_t>(sync_type(row.api).value_or(SyncType::kUnknown));
             }},
            {"eventId", "INTEGER", unknown},
            {"eventSyncId", "INTEGER", unknown},
        };
        columns.insert(columns.end(), rest.begin(), rest.end());
        return columns;
    }

    const Context& context_;
    OnlyContext only_;
    TableWriter<CallRow> runtime_, nested_, cudnn_, cublas_, library_, syncs_;
};

}  // namespace

std::vector<std::uint32_t> api_calls(const Model& model, const Timeline& timeline) {
    std::vector<std::uint32_t> outermost(timeline.calls.size(), kNone);
    for (std::uint32_t position = 0; position < timeline.calls.size(); ++position) {
        const HostCall& call = timeline.calls[position];
        const std::uint32_t around = call.parent == kNone ? kNone : outermost[call.parent];
        if (around != kNone) {
            outermost[position] = around;
        } else if (model.index.symbols.api(call.api).level != abi::ApiLevel::kLibrary) {
            outermost[position] = position;
        }
    }
    return outermost;
}

void write_calls(const Context& context, const std::vector<std::uint32_t>& api_calls) {
    CallTables tables(context);
    for (std::uint32_t position = 0; position < context.timeline.calls.size(); ++position) {
        tables.add(position, api_calls[position]);
    }
}

}  // namespace gpuspy::analysis::nsys

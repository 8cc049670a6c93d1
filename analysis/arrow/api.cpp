#include "analysis/arrow/api.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/arrow/row_tables.hpp"
#include "analysis/arrow/stream.hpp"
#include "analysis/model/build_model.hpp"
#include "analysis/reader/byte_source.hpp"
#include "analysis/render/display_text.hpp"
#include "analysis/salvage/salvage_first.hpp"
#include "analysis/views/view.hpp"

using namespace gpuspy::analysis;

struct gpuspy_tables_trace {
    std::shared_ptr<const Model> model;
    std::mutex views;  ///< Passes keep what they looked up in the model.
};

namespace {

using Complaint = std::optional<std::string>;

std::atomic<void* (*)(void*, const char*)> capsule_pointer{nullptr};
constexpr const char* kCapsuleName = "arrow_array_stream";

/// nullptr also where there is no memory for a message.
char* c_text(const std::string& text) {
    auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy != nullptr) {
        std::memcpy(copy, text.c_str(), text.size() + 1);
    }
    return copy;
}

/// No exception may leave through C.
template <class Work>
char* guarded(Work work) {
    try {
        const Complaint fault = work();
        return fault ? c_text(printable(*fault)) : nullptr;
    } catch (const std::bad_alloc&) {
        return c_text("not enough memory");
    } catch (const std::exception& error) {
        return c_text(printable(error.what()));
    }
}

template <class Entries>
std::string listed(const Entries& entries) {
    std::string lines;
    for (const auto& entry : entries) {
        lines += fmt::format("{}\t{}\n", entry.name, entry.about);
    }
    return lines;
}

template <class Entries>
std::string names_of(const Entries& entries) {
    std::vector<std::string> names;
    for (const auto& entry : entries) {
        names.emplace_back(entry.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

Complaint open_trace(const std::string& path, gpuspy_tables_trace** trace, char** note) {
    salvage_first(path, OlderRings::kLeave);
    const auto source = open_file(path);
    if (!source.ok()) {
        return path + ": " + source.fault().message;
    }
    auto model = build_model(*source.value(), {.reading = {}, .timeline = true});
    if (!model.ok()) {
        return path + ": " + model.fault().message;
    }
    auto opened = std::make_unique<gpuspy_tables_trace>();
    opened->model = std::move(model.value());
    if (opened->model->index.reading.partial()) {
        *note = c_text(printable(path + ": partly readable: " + opened->model->index.reading.describe()));
    }
    *trace = opened.release();
    return std::nullopt;
}

Complaint find_view_table(std::vector<Table>& tables, const std::string& view, const std::string& wanted,
                          Table& found) {
    for (Table& table : tables) {
        if (table.name == wanted || (wanted.empty() && tables.size() == 1)) {
            found = std::move(table);
            return std::nullopt;
        }
    }
    return wanted.empty() ? fmt::format("view {} has several tables; say one: {}.{}", view, view, names_of(tables))
                          : fmt::format("view {} has no table \"{}\"; there are: {}", view, wanted, names_of(tables));
}

Complaint make_view(gpuspy_tables_trace& trace, const std::string& name, const std::string& names, bool by_config,
                    ArrowArrayStream& stream) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const std::string view_name = name.substr(0, dot);
    const View* view = find_view(view_name);
    if (view == nullptr) {
        return fmt::format("there is no view \"{}\"; there are: {}", view_name, names_of(views()));
    }
    ViewOptions options;
    options.by_config = by_config;
    const auto form = find_name_form(names);
    if (!form) {
        return fmt::format("there are no names \"{}\"; there are: {}", names, fmt::join(name_forms(), ", "));
    }
    options.names = *form;
    auto table = std::make_shared<Table>();
    {
        const std::lock_guard<std::mutex> lock(trace.views);
        std::vector<Table> tables = view->tables({*trace.model, *trace.model->timeline, options});
        const std::string wanted = dot == name.size() ? "" : name.substr(dot + 1);
        if (const Complaint fault = find_view_table(tables, view_name, wanted, *table)) {
            return fault;
        }
    }
    make_stream(to_columns(table), stream);
    return std::nullopt;
}

}  // namespace

char* gpuspy_tables_open(const char* path, gpuspy_tables_trace** trace, char** note) {
    *trace = nullptr;
    *note = nullptr;
    return guarded([&] { return open_trace(path, trace, note); });
}

void gpuspy_tables_close(gpuspy_tables_trace* trace) {
    delete trace;
}

void gpuspy_tables_free(char* text) {
    std::free(text);
}

char* gpuspy_tables_list_rows(void) {
    return c_text(listed(row_tables()));
}

char* gpuspy_tables_list_views(void) {
    return c_text(listed(views()));
}

char* gpuspy_tables_rows(gpuspy_tables_trace* trace, const char* table, ArrowArrayStream* stream) {
    return guarded([&]() -> Complaint {
        const RowTable* found = find_row_table(table);
        if (found == nullptr) {
            return fmt::format("there is no table \"{}\"; there are: {}", table, names_of(row_tables()));
        }
        make_stream(found->make(trace->model), *stream);
        return std::nullopt;
    });
}

char* gpuspy_tables_view(gpuspy_tables_trace* trace, const char* view, const char* names, int by_config,
                         ArrowArrayStream* stream) {
    return guarded([&] { return make_view(*trace, view, names, by_config != 0, *stream); });
}

ArrowArrayStream* gpuspy_tables_new_stream(void) {
    return new (std::nothrow) ArrowArrayStream{};
}

void gpuspy_tables_delete_stream(ArrowArrayStream* stream) {
    if (stream != nullptr && stream->release != nullptr) {
        stream->release(stream);
    }
    delete stream;
}

void gpuspy_tables_use_python(void* (*pointer)(void*, const char*)) {
    capsule_pointer.store(pointer);
}

void gpuspy_tables_end_capsule(void* capsule) {
    gpuspy_tables_delete_stream(static_cast<ArrowArrayStream*>(capsule_pointer.load()(capsule, kCapsuleName)));
}

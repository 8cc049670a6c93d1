#include "analysis/arrow/stream.hpp"

#include <cerrno>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "analysis/arrow/batch.hpp"
#include "analysis/arrow/schema.hpp"

namespace gpuspy::analysis {
namespace {

struct StreamState {
    ColumnTable table;
    BatchLimits limits;
    std::size_t next = 0;
    std::string error;
};

StreamState& state_of(ArrowArrayStream* stream) {
    return *static_cast<StreamState*>(stream->private_data);
}

/// No exception may leave through C.
template <class Work>
int guarded(StreamState& state, Work work) {
    try {
        state.error.clear();
        work();
        return 0;
    } catch (const std::bad_alloc&) {
        state.error = "not enough memory";
        return ENOMEM;
    } catch (const std::exception& error) {
        state.error = error.what();
        return EIO;
    }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    StreamState& state = state_of(stream);
    return guarded(state, [&] { make_schema(state.table, *out); });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
    StreamState& state = state_of(stream);
    return guarded(state, [&] {
        if (state.next >= state.table.rows) {
            *out = {};  // Released: the end.
            return;
        }
        state.next += make_batch(state.table, state.next, state.limits, *out);
    });
}

const char* get_last_error(ArrowArrayStream* stream) {
    const std::string& error = state_of(stream).error;
    return error.empty() ? nullptr : error.c_str();
}

void release(ArrowArrayStream* stream) {
    delete static_cast<StreamState*>(stream->private_data);
    stream->release = nullptr;
}

}  // namespace

void make_stream(ColumnTable table, ArrowArrayStream& out, const BatchLimits& limits) {
    auto* state = new StreamState{std::move(table), limits, 0, {}};
    out = {get_schema, get_next, get_last_error, release, state};
}

}  // namespace gpuspy::analysis

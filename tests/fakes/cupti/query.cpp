// Versions, times, ids, error strings.
#include <cupti.h>

#include "tests/fakes/cupti/driver.hpp"
#include "tests/fakes/cupti/faults.hpp"

namespace {

/// Asks the driver; CUPTI_ERROR_NOT_INITIALIZED without one.
template <class Value, class Ask>
CUptiResult ask(Value* out, CUptiResult none, Ask&& question) {
    if (out == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (sim::cupti::find_driver() == nullptr) {
        return CUPTI_ERROR_NOT_INITIALIZED;
    }
    const Value value = question(*sim::cupti::find_driver());
    if (value == 0) {
        return none;
    }
    *out = value;
    return CUPTI_SUCCESS;
}

}  // namespace

extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
    if (version == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *version = static_cast<std::uint32_t>(sim::cupti::faults().version);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* timestamp) {
    return ask(timestamp, CUPTI_ERROR_UNKNOWN, [](const sim::cupti::Driver& driver) { return driver.now_ns(); });
}

CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, uint32_t* id) {
    return ask(id, CUPTI_ERROR_INVALID_PARAMETER,
               [graph](const sim::cupti::Driver& driver) { return driver.graph_id(graph); });
}

CUptiResult CUPTIAPI cuptiGetGraphExecId(CUgraphExec exec, uint32_t* id) {
    return ask(id, CUPTI_ERROR_INVALID_PARAMETER,
               [exec](const sim::cupti::Driver& driver) { return driver.graph_exec_id(exec); });
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
    return ask(id, CUPTI_ERROR_INVALID_PARAMETER,
               [node](const sim::cupti::Driver& driver) { return driver.graph_node_id(node); });
}

CUptiResult CUPTIAPI cuptiGetContextId(CUcontext context, uint32_t* id) {
    return ask(id, CUPTI_ERROR_INVALID_CONTEXT,
               [context](const sim::cupti::Driver& driver) { return driver.context_id(context); });
}

CUptiResult CUPTIAPI cuptiGetStreamId(CUcontext, CUstream stream, uint32_t* id) {
    return ask(id, CUPTI_ERROR_INVALID_STREAM,
               [stream](const sim::cupti::Driver& driver) { return driver.stream_id(stream); });
}

CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext, CUstream stream, uint8_t per_thread, uint32_t* id) {
    CUstream const asked = stream == nullptr && per_thread != 0 ? CU_STREAM_PER_THREAD : stream;
    return ask(id, CUPTI_ERROR_INVALID_STREAM,
               [asked](const sim::cupti::Driver& driver) { return driver.stream_id(asked); });
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
    switch (result) {
        case CUPTI_SUCCESS:
            *text = "CUPTI_SUCCESS";
            return CUPTI_SUCCESS;
        case CUPTI_ERROR_INVALID_PARAMETER:
            *text = "CUPTI_ERROR_INVALID_PARAMETER";
            return CUPTI_SUCCESS;
        case CUPTI_ERROR_NOT_INITIALIZED:
            *text = "CUPTI_ERROR_NOT_INITIALIZED";
            return CUPTI_SUCCESS;
        case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
            *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
            return CUPTI_SUCCESS;
        case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
            *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
            return CUPTI_SUCCESS;
        default:
            *text = nullptr;
            return CUPTI_ERROR_INVALID_PARAMETER;
    }
}
}

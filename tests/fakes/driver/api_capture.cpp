// Stream capture.
#include <unistd.h>

#include <algorithm>

#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/graph.hpp"
#include "tests/fakes/driver/work.hpp"

using sim::driver;
using sim::Lock;

namespace {

CUresult begin(CUstream handle, CUstreamCaptureMode mode, CUgraph graph, const CUgraphNode* dependencies,
               std::size_t dependency_count) {
    const Lock lock(driver().mutex);
    CUstream_st* stream = sim::find_stream(handle);
    if (stream == nullptr) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (stream->legacy) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (stream->capture) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    stream->capture = std::make_shared<sim::Capture>();
    *stream->capture = {graph != nullptr ? graph : sim::make_graph(),
                        stream,
                        mode,
                        driver().next_capture++,
                        gettid(),
                        true,
                        graph == nullptr};
    stream->capture_dependencies.assign(dependencies, dependencies + dependency_count);
    stream->capture_edges.assign(dependency_count, CUgraphEdgeData{});
    std::erase_if(driver().captures, [](const auto& weak) { return weak.expired(); });
    driver().captures.push_back(stream->capture);
    return CUDA_SUCCESS;
}

void leave(CUstream_st& stream, const sim::Capture* capture) {
    if (stream.capture.get() == capture) {
        stream.capture.reset();
        stream.capture_dependencies.clear();
        stream.capture_edges.clear();
    }
}

/// Nodes that nothing waits for are all waited for by the origin.
bool joined(const CUstream_st& origin) {
    const auto& last = origin.capture_dependencies;
    const auto& nodes = origin.capture->graph->nodes;
    return std::all_of(nodes.begin(), nodes.end(), [&](const auto& node) {
        return std::find(last.begin(), last.end(), node.get()) != last.end() ||
               std::any_of(nodes.begin(), nodes.end(), [&](const auto& other) {
                   const auto& waits = other->dependencies;
                   return std::find(waits.begin(), waits.end(), node.get()) != waits.end();
               });
    });
}

struct CaptureInfo {
    CUstreamCaptureStatus* status;
    cuuint64_t* id;
    CUgraph* graph;
    const CUgraphNode** dependencies;
    const CUgraphEdgeData** edges;
    std::size_t* dependency_count;
};

CUresult info(CUstream handle, const CaptureInfo& out) {
    const Lock lock(driver().mutex);
    CUstream_st* stream = sim::find_stream(handle);
    if (stream == nullptr) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!stream->capture) {
        *out.status = CU_STREAM_CAPTURE_STATUS_NONE;
        return CUDA_SUCCESS;
    }
    const sim::Capture& capture = *stream->capture;
    *out.status = capture.valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    if (!capture.valid) {
        return CUDA_SUCCESS;
    }
    if (out.id != nullptr) {
        *out.id = capture.id;
    }
    if (out.graph != nullptr) {
        *out.graph = capture.graph;
    }
    if (out.dependencies != nullptr) {
        *out.dependencies = stream->capture_dependencies.data();
    }
    if (out.edges != nullptr) {
        *out.edges = stream->capture_edges.data();
    }
    if (out.dependency_count != nullptr) {
        *out.dependency_count = stream->capture_dependencies.size();
    }
    return CUDA_SUCCESS;
}

CUresult update_dependencies(CUstream handle, const CUgraphNode* nodes, std::size_t count, unsigned flags) {
    const Lock lock(driver().mutex);
    CUstream_st* stream = sim::find_stream(handle);
    if (stream == nullptr || !stream->capture) {
        return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_ILLEGAL_STATE;
    }
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
        stream->capture_dependencies.clear();
    }
    stream->capture_dependencies.insert(stream->capture_dependencies.end(), nodes, nodes + count);
    stream->capture_edges.assign(stream->capture_dependencies.size(), CUgraphEdgeData{});
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API_STREAM(cuStreamBeginCapture, , 10000, _ptsz, 10000, (CUstream stream), (stream)) {
    return begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr, nullptr, 0);
}
SIM_API_STREAM(cuStreamBeginCapture, _v2, 10010, _ptsz, 10010, (CUstream stream, CUstreamCaptureMode mode),
               (stream, mode)) {
    return begin(stream, mode, nullptr, nullptr, 0);
}
SIM_API_STREAM(cuStreamBeginCaptureToGraph, , 12030, _ptsz, 12030,
               (CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                [[maybe_unused]] const CUgraphEdgeData* edges, std::size_t count, CUstreamCaptureMode mode),
               (stream, graph, dependencies, edges, count, mode)) {
    return graph == nullptr ? CUDA_ERROR_INVALID_VALUE : begin(stream, mode, graph, dependencies, count);
}

SIM_API_STREAM(cuStreamEndCapture, , 10000, _ptsz, 10000, (CUstream stream, CUgraph* graph), (stream, graph)) {
    const Lock lock(driver().mutex);
    CUstream_st* origin = sim::find_stream(stream);
    if (origin == nullptr) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!origin->capture) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    const auto capture = origin->capture;
    CUresult result = capture->origin != origin ? CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
                      : !capture->valid         ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                      : joined(*origin)         ? CUDA_SUCCESS
                                                : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    for (const auto& other : origin->context->streams) {
        leave(*other, capture.get());
    }
    for (const auto& [thread, other] : origin->context->per_thread) {
        leave(*other, capture.get());
    }
    *graph = result == CUDA_SUCCESS ? capture->graph : nullptr;
    if (result != CUDA_SUCCESS && capture->owns_graph) {
        sim::destroy_graph(capture->graph);
    }
    capture->graph = nullptr;  // Events that were recorded in it no longer join streams.
    return result;
}

SIM_API_STREAM(cuStreamIsCapturing, , 10000, _ptsz, 10000, (CUstream stream, CUstreamCaptureStatus* status),
               (stream, status)) {
    return info(stream, {status, nullptr, nullptr, nullptr, nullptr, nullptr});
}
SIM_API_STREAM(cuStreamGetCaptureInfo, , 10010, _ptsz, 10010,
               (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id), (stream, status, id)) {
    return info(stream, {status, id, nullptr, nullptr, nullptr, nullptr});
}
SIM_API_STREAM(cuStreamGetCaptureInfo, _v2, 11030, _ptsz, 11030,
               (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                const CUgraphNode** dependencies, std::size_t* count),
               (stream, status, id, graph, dependencies, count)) {
    return info(stream, {status, id, graph, dependencies, nullptr, count});
}
SIM_API_STREAM(cuStreamGetCaptureInfo, _v3, 12030, _ptsz, 12030,
               (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                const CUgraphNode** dependencies, const CUgraphEdgeData** edges, std::size_t* count),
               (stream, status, id, graph, dependencies, edges, count)) {
    return info(stream, {status, id, graph, dependencies, edges, count});
}
SIM_API_STREAM(cuStreamUpdateCaptureDependencies, , 11030, _ptsz, 11030,
               (CUstream stream, CUgraphNode* nodes, std::size_t count, unsigned flags),
               (stream, nodes, count, flags)) {
    return update_dependencies(stream, nodes, count, flags);
}
SIM_API_STREAM(cuStreamUpdateCaptureDependencies, _v2, 12030, _ptsz, 12030,
               (CUstream stream, CUgraphNode* nodes, [[maybe_unused]] const CUgraphEdgeData* edges, std::size_t count,
                unsigned flags),
               (stream, nodes, edges, count, flags)) {
    return update_dependencies(stream, nodes, count, flags);
}

SIM_API(cuThreadExchangeStreamCaptureMode, , 10010, (CUstreamCaptureMode * mode), (mode)) {
    std::swap(*mode, sim::capture_interaction_mode());
    return CUDA_SUCCESS;
}

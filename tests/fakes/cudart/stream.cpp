// Streams, events, capture.
#include "tests/fakes/cudart/call.hpp"

using sim::runtime::to_runtime;

SIM_RT(cudaStreamCreate, kContext, (cudaStream_t * stream), (stream)) {
    return to_runtime(cu.cuStreamCreateWithPriority(stream, cudaStreamDefault, 0));
}
SIM_RT(cudaStreamCreateWithFlags, kContext, (cudaStream_t * stream, unsigned flags), (stream, flags)) {
    return to_runtime(cu.cuStreamCreateWithPriority(stream, flags, 0));
}
SIM_RT(cudaStreamCreateWithPriority, kContext, (cudaStream_t * stream, unsigned flags, int priority),
       (stream, flags, priority)) {
    return to_runtime(cu.cuStreamCreateWithPriority(stream, flags, priority));
}
SIM_RT(cudaStreamDestroy, kContext, (cudaStream_t stream), (stream)) {
    return to_runtime(cu.cuStreamDestroy(stream));
}
SIM_RT_STREAM(cudaStreamSynchronize, _ptsz, (cudaStream_t stream), (stream)) {
    return to_runtime(cu.cuStreamSynchronize(stream));
}
SIM_RT_STREAM(cudaStreamQuery, _ptsz, (cudaStream_t stream), (stream)) {
    return to_runtime(cu.cuStreamQuery(stream));
}
SIM_RT_STREAM(cudaStreamWaitEvent, _ptsz, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
              (stream, event, flags)) {
    return to_runtime(cu.cuStreamWaitEvent(stream, event, flags));
}
SIM_RT_STREAM(cudaStreamGetFlags, _ptsz, (cudaStream_t stream, unsigned* flags), (stream, flags)) {
    return to_runtime(cu.cuStreamGetFlags(stream, flags));
}
SIM_RT_STREAM(cudaStreamGetPriority, _ptsz, (cudaStream_t stream, int* priority), (stream, priority)) {
    return to_runtime(cu.cuStreamGetPriority(stream, priority));
}
SIM_RT_STREAM(cudaStreamGetId, _ptsz, (cudaStream_t stream, unsigned long long* id), (stream, id)) {
    return to_runtime(cu.cuStreamGetId(stream, id));
}
SIM_RT_STREAM(cudaStreamAddCallback, _ptsz,
              (cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags),
              (stream, callback, data, flags)) {
    // The two callback types differ only in the name of the status.
    return to_runtime(cu.cuStreamAddCallback(stream, reinterpret_cast<CUstreamCallback>(callback), data, flags));
}

SIM_RT(cudaEventCreate, kContext, (cudaEvent_t * event), (event)) {
    return to_runtime(cu.cuEventCreate(event, 0));
}
SIM_RT(cudaEventCreateWithFlags, kContext, (cudaEvent_t * event, unsigned flags), (event, flags)) {
    return to_runtime(cu.cuEventCreate(event, flags));
}
SIM_RT(cudaEventDestroy, kContext, (cudaEvent_t event), (event)) {
    return to_runtime(cu.cuEventDestroy(event));
}
SIM_RT_STREAM(cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream), (event, stream)) {
    return to_runtime(cu.cuEventRecord(event, stream));
}
SIM_RT_STREAM(cudaEventRecordWithFlags, _ptsz, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
              (event, stream, flags)) {
    return to_runtime(cu.cuEventRecordWithFlags(event, stream, flags));
}
SIM_RT(cudaEventSynchronize, kContext, (cudaEvent_t event), (event)) {
    return to_runtime(cu.cuEventSynchronize(event));
}
SIM_RT(cudaEventQuery, kContext, (cudaEvent_t event), (event)) {
    return to_runtime(cu.cuEventQuery(event));
}
SIM_RT(cudaEventElapsedTime, kContext, (float* milliseconds, cudaEvent_t start, cudaEvent_t end),
       (milliseconds, start, end)) {
    return to_runtime(cu.cuEventElapsedTime(milliseconds, start, end));
}

SIM_RT_STREAM(cudaStreamBeginCapture, _ptsz, (cudaStream_t stream, cudaStreamCaptureMode mode), (stream, mode)) {
    return to_runtime(cu.cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode)));
}
SIM_RT_STREAM(cudaStreamBeginCaptureToGraph, _ptsz,
              (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
               const cudaGraphEdgeData* edges, std::size_t count, cudaStreamCaptureMode mode),
              (stream, graph, dependencies, edges, count, mode)) {
    return to_runtime(cu.cuStreamBeginCaptureToGraph(stream, graph, dependencies,
                                                     reinterpret_cast<const CUgraphEdgeData*>(edges), count,
                                                     static_cast<CUstreamCaptureMode>(mode)));
}
SIM_RT_STREAM(cudaStreamEndCapture, _ptsz, (cudaStream_t stream, cudaGraph_t* graph), (stream, graph)) {
    return to_runtime(cu.cuStreamEndCapture(stream, graph));
}
SIM_RT_STREAM(cudaStreamIsCapturing, _ptsz, (cudaStream_t stream, cudaStreamCaptureStatus* status), (stream, status)) {
    return to_runtime(cu.cuStreamIsCapturing(stream, reinterpret_cast<CUstreamCaptureStatus*>(status)));
}
#if SIM_CUDART_MAJOR >= 13
SIM_RT_STREAM(cudaStreamGetCaptureInfo, _ptsz,
              (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
               const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges, std::size_t* count),
              (stream, status, id, graph, dependencies, edges, count)) {
    cuuint64_t found = 0;
    const CUresult result =
        cu.cuStreamGetCaptureInfo(stream, reinterpret_cast<CUstreamCaptureStatus*>(status), &found, graph, dependencies,
                                  reinterpret_cast<const CUgraphEdgeData**>(edges), count);
    if (id != nullptr) {
        *id = found;
    }
    return to_runtime(result);
}
#endif
SIM_RT(cudaThreadExchangeStreamCaptureMode, kContext, (cudaStreamCaptureMode * mode), (mode)) {
    return to_runtime(cu.cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

// Streams and events.
#include <algorithm>

#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/clock.hpp"
#include "tests/fakes/driver/work.hpp"

using sim::driver;
using sim::Lock;

namespace {

CUresult create_stream(CUstream* stream, unsigned flags, int priority) {
    const Lock lock(driver().mutex);
    CUcontext context = sim::current_context();
    if (context == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (flags > CU_STREAM_NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    context->streams.push_back(std::make_unique<CUstream_st>(
        CUstream_st{context, driver().next_stream++, flags, priority, false, 0, {}, {}, {}}));
    *stream = context->streams.back().get();
    driver().streams.insert(*stream);
    return CUDA_SUCCESS;
}

CUresult destroy_stream(CUstream stream) {
    const Lock lock(driver().mutex);
    if (driver().streams.erase(stream) == 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    // What it holds still runs: the legacy stream must go on waiting for it.
    CUcontext context = stream->context;
    context->legacy->tail_ns = std::max(context->legacy->tail_ns, stream->tail_ns);
    std::erase_if(context->streams, [stream](const auto& other) { return other.get() == stream; });
    return CUDA_SUCCESS;
}

/// The stream, checked, for a query that has no result but an error.
template <class Body>
CUresult with_stream(CUstream handle, Body&& body) {
    const Lock lock(driver().mutex);
    if (sim::current_context() == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    CUstream_st* stream = sim::find_stream(handle);
    return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(*stream);
}

CUresult record(CUevent event, CUstream handle, unsigned flags) {
    return with_stream(handle, [&](CUstream_st& stream) {
        if (!driver().events.contains(event)) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        if (stream.capture && flags == CU_EVENT_RECORD_EXTERNAL) {
            sim::Work work;
            work.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
            work.event = event;
            sim::add_captured_node(stream, work);
            return CUDA_SUCCESS;
        }
        event->capture = stream.capture;
        event->capture_dependencies = stream.capture_dependencies;
        if (!stream.capture) {
            event->time_ns = sim::earliest_start_ns(stream);
        }
        return CUDA_SUCCESS;
    });
}

CUresult destroy_event(CUevent event) {
    const Lock lock(driver().mutex);
    if (driver().events.erase(event) == 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    delete event;
    return CUDA_SUCCESS;
}

CUresult elapsed(float* milliseconds, CUevent start, CUevent end) {
    const Lock lock(driver().mutex);
    if (!driver().events.contains(start) || !driver().events.contains(end) || start->time_ns == 0 ||
        end->time_ns == 0 || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (std::max(start->time_ns, end->time_ns) > sim::now_ns()) {
        return CUDA_ERROR_NOT_READY;
    }
    constexpr double kNsPerMs = 1e6;
    *milliseconds =
        static_cast<float>((static_cast<double>(end->time_ns) - static_cast<double>(start->time_ns)) / kNsPerMs);
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API(cuStreamCreate, , 2000, (CUstream * stream, unsigned flags), (stream, flags)) {
    return create_stream(stream, flags, 0);
}
SIM_API(cuStreamCreateWithPriority, , 5050, (CUstream * stream, unsigned flags, int priority),
        (stream, flags, priority)) {
    return create_stream(stream, flags, priority);
}
SIM_API(cuStreamDestroy, , 2000, (CUstream stream), (stream)) {
    return destroy_stream(stream);
}
SIM_API(cuStreamDestroy, _v2, 4000, (CUstream stream), (stream)) {
    return destroy_stream(stream);
}

SIM_API_STREAM(cuStreamSynchronize, , 2000, _ptsz, 7000, (CUstream stream), (stream)) {
    std::uint64_t until = 0;
    const CUresult result = with_stream(stream, [&](CUstream_st& found) {
        until = sim::completion_ns(found);
        return sim::refuse_in_capture(found);
    });
    sim::wait_until_ns(until);
    return result;
}

SIM_API_STREAM(cuStreamQuery, , 2000, _ptsz, 7000, (CUstream stream), (stream)) {
    return with_stream(stream, [](CUstream_st& found) {
        const CUresult refused = sim::refuse_in_capture(found);
        return refused != CUDA_SUCCESS                     ? refused
               : sim::completion_ns(found) > sim::now_ns() ? CUDA_ERROR_NOT_READY
                                                           : CUDA_SUCCESS;
    });
}

SIM_API_STREAM(cuStreamWaitEvent, , 3020, _ptsz, 7000,
               (CUstream stream, CUevent event, [[maybe_unused]] unsigned flags), (stream, event, flags)) {
    return with_stream(stream, [&](CUstream_st& found) {
        if (!driver().events.contains(event)) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        if (event->capture && event->capture->graph != nullptr) {
            if (found.capture && found.capture != event->capture) {
                return CUDA_ERROR_STREAM_CAPTURE_MERGE;
            }
            found.capture = event->capture;
            for (CUgraphNode node : event->capture_dependencies) {
                auto& all = found.capture_dependencies;
                if (std::find(all.begin(), all.end(), node) == all.end()) {
                    all.push_back(node);
                }
            }
            found.capture_edges.assign(found.capture_dependencies.size(), CUgraphEdgeData{});
            return CUDA_SUCCESS;
        }
        if (found.capture) {
            return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
        }
        found.tail_ns = std::max(found.tail_ns, event->time_ns);
        return CUDA_SUCCESS;
    });
}

SIM_API_STREAM(cuStreamGetFlags, , 5050, _ptsz, 7000, (CUstream stream, unsigned* flags), (stream, flags)) {
    return with_stream(stream, [&](CUstream_st& found) {
        *flags = found.flags;
        return CUDA_SUCCESS;
    });
}
SIM_API_STREAM(cuStreamGetPriority, , 5050, _ptsz, 7000, (CUstream stream, int* priority), (stream, priority)) {
    return with_stream(stream, [&](CUstream_st& found) {
        *priority = found.priority;
        return CUDA_SUCCESS;
    });
}
SIM_API_STREAM(cuStreamGetId, , 12000, _ptsz, 12000, (CUstream stream, unsigned long long* id), (stream, id)) {
    return with_stream(stream, [&](CUstream_st& found) {
        *id = found.id;
        return CUDA_SUCCESS;
    });
}
SIM_API_STREAM(cuStreamGetCtx, , 9020, _ptsz, 9020, (CUstream stream, CUcontext* context), (stream, context)) {
    return with_stream(stream, [&](CUstream_st& found) {
        *context = found.context;
        return CUDA_SUCCESS;
    });
}

SIM_API_STREAM(cuStreamAddCallback, , 5000, _ptsz, 7000,
               (CUstream stream, CUstreamCallback callback, void* data, unsigned flags),
               (stream, callback, data, flags)) {
    if (callback == nullptr || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const CUresult result = with_stream(stream, [](CUstream_st& found) { return sim::refuse_in_capture(found); });
    if (result == CUDA_SUCCESS) {
        callback(stream, CUDA_SUCCESS, data);
    }
    return result;
}

SIM_API(cuEventCreate, , 2000, (CUevent * event, unsigned flags), (event, flags)) {
    const Lock lock(driver().mutex);
    if (sim::current_context() == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *event = new CUevent_st{sim::current_context(), flags, 0, {}, {}};
    driver().events.insert(*event);
    return CUDA_SUCCESS;
}
SIM_API(cuEventDestroy, , 2000, (CUevent event), (event)) {
    return destroy_event(event);
}
SIM_API(cuEventDestroy, _v2, 4000, (CUevent event), (event)) {
    return destroy_event(event);
}

SIM_API_STREAM(cuEventRecord, , 2000, _ptsz, 7000, (CUevent event, CUstream stream), (event, stream)) {
    return record(event, stream, CU_EVENT_RECORD_DEFAULT);
}
SIM_API_STREAM(cuEventRecordWithFlags, , 11010, _ptsz, 11010, (CUevent event, CUstream stream, unsigned flags),
               (event, stream, flags)) {
    return record(event, stream, flags);
}

SIM_API(cuEventSynchronize, , 2000, (CUevent event), (event)) {
    std::uint64_t until = 0;
    {
        const Lock lock(driver().mutex);
        if (!driver().events.contains(event)) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        if (event->capture) {
            event->capture->valid = false;
            return CUDA_ERROR_CAPTURED_EVENT;
        }
        until = event->time_ns;
    }
    sim::wait_until_ns(until);
    return CUDA_SUCCESS;
}

SIM_API(cuEventQuery, , 2000, (CUevent event), (event)) {
    const Lock lock(driver().mutex);
    if (!driver().events.contains(event)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (event->capture) {
        event->capture->valid = false;
        return CUDA_ERROR_CAPTURED_EVENT;
    }
    return event->time_ns > sim::now_ns() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

SIM_API(cuEventElapsedTime, , 2000, (float* milliseconds, CUevent start, CUevent end), (milliseconds, start, end)) {
    return elapsed(milliseconds, start, end);
}
SIM_API(cuEventElapsedTime, _v2, 12080, (float* milliseconds, CUevent start, CUevent end), (milliseconds, start, end)) {
    return elapsed(milliseconds, start, end);
}

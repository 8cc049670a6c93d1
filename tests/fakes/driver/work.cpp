#include "tests/fakes/driver/work.hpp"

#include <algorithm>
#include <cstring>

#include <cupti_activity.h>

#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/clock.hpp"
#include "tests/fakes/driver/graph.hpp"

namespace sim {
namespace {

std::uint64_t duration_ns(const Work& work) {
    const auto& durations = driver().durations_ns;
    switch (work.type) {
        case CU_GRAPH_NODE_TYPE_KERNEL: {
            const auto found = durations.find(work.function->name);
            return found != durations.end() ? found->second : durations.at("");
        }
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return durations.at("[memcpy]");
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return durations.at("[memset]");
        default:
            return 0;
    }
}

/// One end of a copy.
struct End {
    char* base;
    std::size_t pitch;
    std::size_t height;
    std::uint8_t kind;
    CUdevice device;
};

std::uint8_t activity_kind(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::kPageable:
            return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
        case MemoryKind::kPinned:
            return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
        case MemoryKind::kDevice:
            return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
        case MemoryKind::kManaged:
            return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    }
    return CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
}

End make_end(CUmemorytype type, const void* host, CUdeviceptr device_pointer, CUarray array, std::size_t pitch,
             std::size_t height) {
    if (type == CU_MEMORYTYPE_ARRAY) {
        return {array->data.data(), array->descriptor.Width * array->element_bytes, array->descriptor.Height,
                CUPTI_ACTIVITY_MEMORY_KIND_ARRAY, 0};
    }
    void* pointer = type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : reinterpret_cast<void*>(device_pointer);
    CUdevice device = 0;
    const MemoryKind kind = memory_kind(pointer, &device);
    return {static_cast<char*>(pointer), pitch, height, activity_kind(kind), device};
}

End source_end(const CUDA_MEMCPY3D& copy) {
    return make_end(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcPitch, copy.srcHeight);
}

End destination_end(const CUDA_MEMCPY3D& copy) {
    return make_end(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstPitch, copy.dstHeight);
}

char* row(const End& end, std::size_t x, std::size_t y, std::size_t z) {
    return end.base + (z * std::max<std::size_t>(end.height, 1) + y) * end.pitch + x;
}

void move_bytes(const CUDA_MEMCPY3D& copy) {
    const End source = source_end(copy);
    const End destination = destination_end(copy);
    for (std::size_t z = 0; z < copy.Depth; ++z) {
        for (std::size_t y = 0; y < copy.Height; ++y) {
            std::memmove(row(destination, copy.dstXInBytes, copy.dstY + y, copy.dstZ + z),
                         row(source, copy.srcXInBytes, copy.srcY + y, copy.srcZ + z), copy.WidthInBytes);
        }
    }
}

void set_bytes(const CUDA_MEMSET_NODE_PARAMS& set) {
    for (std::size_t y = 0; y < std::max<std::size_t>(set.height, 1); ++y) {
        char* at = reinterpret_cast<char*>(set.dst) + y * set.pitch;
        for (std::size_t x = 0; x < set.width; ++x) {
            std::memcpy(at + x * set.elementSize, &set.value, set.elementSize);
        }
    }
}

bool on_host(std::uint8_t kind) {
    return kind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE || kind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
}

bool touches_host(const Work& work) {
    return work.type == CU_GRAPH_NODE_TYPE_MEMCPY &&
           (on_host(source_end(work.copy).kind) || on_host(destination_end(work.copy).kind));
}

std::uint8_t copy_kind(const End& source, const End& destination) {
    const bool from_array = source.kind == CUPTI_ACTIVITY_MEMORY_KIND_ARRAY;
    const bool to_array = destination.kind == CUPTI_ACTIVITY_MEMORY_KIND_ARRAY;
    if (on_host(source.kind)) {
        return on_host(destination.kind)
                   ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOH
                   : (to_array ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOA : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
    }
    if (on_host(destination.kind)) {
        return from_array ? CUPTI_ACTIVITY_MEMCPY_KIND_ATOH : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    }
    if (from_array) {
        return to_array ? CUPTI_ACTIVITY_MEMCPY_KIND_ATOA : CUPTI_ACTIVITY_MEMCPY_KIND_ATOD;
    }
    if (to_array) {
        return CUPTI_ACTIVITY_MEMCPY_KIND_DTOA;
    }
    return source.device != destination.device ? CUPTI_ACTIVITY_MEMCPY_KIND_PTOP : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

Activity describe(const Work& work, const CUstream_st& stream) {
    Activity activity{};
    activity.type = work.type;
    activity.device = static_cast<std::uint32_t>(stream.context->device);
    activity.context = stream.context->id;
    activity.stream = stream.id;
    activity.asynchronous = !work.synchronous;
    if (work.type == CU_GRAPH_NODE_TYPE_KERNEL) {
        activity.name = work.function->name;
        std::copy(work.grid.begin(), work.grid.end(), activity.grid);
        std::copy(work.block.begin(), work.block.end(), activity.block);
        activity.dynamic_shared_bytes = work.dynamic_shared_bytes;
        activity.cooperative = work.cooperative;
    } else if (work.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        const End source = source_end(work.copy);
        const End destination = destination_end(work.copy);
        activity.bytes = work.copy.WidthInBytes * work.copy.Height * work.copy.Depth;
        activity.copy_kind = copy_kind(source, destination);
        activity.source_kind = source.kind;
        activity.destination_kind = destination.kind;
        activity.peer_device = static_cast<std::uint32_t>(destination.device);
        activity.peer_context = stream.context->id;
    } else {
        activity.bytes = work.set.width * work.set.elementSize * std::max<std::size_t>(work.set.height, 1);
        activity.value = work.set.value;
        activity.destination_kind = activity_kind(memory_kind(reinterpret_cast<void*>(work.set.dst)));
    }
    return activity;
}

}  // namespace

void Aftermath::run() {
    const Tracer* now = tracer();
    if (now != nullptr) {
        for (const Activity& activity : activities) {
            now->activity(activity);
        }
    }
    for (const Work& work : host_functions) {
        work.host_function(work.host_data);
    }
    if (wait_until_ns != 0) {
        sim::wait_until_ns(wait_until_ns);
    }
}

std::uint64_t completion_ns(const CUstream_st& stream) {
    std::uint64_t time_ns = stream.tail_ns;
    if (stream.legacy) {
        for (const auto& other : stream.context->streams) {
            time_ns = other->blocking() ? std::max(time_ns, other->tail_ns) : time_ns;
        }
        for (const auto& [thread, other] : stream.context->per_thread) {
            time_ns = std::max(time_ns, other->tail_ns);
        }
    }
    return time_ns;
}

std::uint64_t context_completion_ns(const CUctx_st& context) {
    std::uint64_t time_ns = completion_ns(*context.legacy);
    for (const auto& stream : context.streams) {
        time_ns = std::max(time_ns, stream->tail_ns);
    }
    return time_ns;
}

std::uint64_t earliest_start_ns(const CUstream_st& stream) {
    std::uint64_t time_ns = std::max(now_ns(), completion_ns(stream));
    return stream.blocking() ? std::max(time_ns, stream.context->legacy->tail_ns) : time_ns;
}

std::uint64_t perform(const Work& work, const CUstream_st& stream, std::uint64_t start_ns, std::uint32_t graph_exec,
                      std::uint64_t graph_node, Aftermath& after) {
    const std::uint64_t end_ns = start_ns + duration_ns(work);
    switch (work.type) {
        case CU_GRAPH_NODE_TYPE_HOST:
            after.host_functions.push_back(work);
            return end_ns;
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            work.event->time_ns = end_ns;
            return end_ns;
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            return std::max(end_ns, work.event->time_ns);
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            move_bytes(work.copy);
            break;
        case CU_GRAPH_NODE_TYPE_MEMSET:
            set_bytes(work.set);
            break;
        case CU_GRAPH_NODE_TYPE_KERNEL:
            break;
        default:
            return end_ns;
    }
    const Tracer* now = tracer();
    if (now != nullptr && now->wants_activity(work.type)) {
        Activity activity = describe(work, stream);
        activity.start_ns = start_ns;
        activity.end_ns = end_ns;
        activity.correlation = CallFrame::current()->correlation();
        activity.graph_exec = graph_exec;
        activity.graph_node = graph_node;
        after.activities.push_back(activity);
    }
    return end_ns;
}

CUresult refuse_in_capture(CUstream_st& stream) {
    if (stream.capture) {
        stream.capture->valid = false;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (stream.legacy) {
        for (const auto& other : stream.context->streams) {
            if (other->blocking() && other->capture) {
                other->capture->valid = false;
                return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
            }
        }
    }
    return CUDA_SUCCESS;
}

CUresult submit(CUstream handle, const Work& work) {
    Aftermath after;
    {
        const Lock lock(driver().mutex);
        if (current_context() == nullptr) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        CUstream_st* stream = find_stream(handle);
        if (stream == nullptr) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        if (work.synchronous && unsafe_in_capture()) {
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        if (stream->capture && !work.synchronous) {
            if (!stream->capture->valid) {
                return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
            }
            add_captured_node(*stream, work);
            return CUDA_SUCCESS;
        }
        const CUresult refused = refuse_in_capture(*stream);
        if (refused != CUDA_SUCCESS) {
            return refused;
        }
        stream->tail_ns = perform(work, *stream, earliest_start_ns(*stream), 0, 0, after);
        if (work.synchronous && touches_host(work)) {
            after.wait_until_ns = stream->tail_ns;
        }
    }
    after.run();
    return CUDA_SUCCESS;
}

CUgraphNode add_captured_node(CUstream_st& stream, const Work& work) {
    CUgraphNode node = add_node(*stream.capture->graph, work, stream.capture_dependencies);
    stream.capture_dependencies = {node};
    stream.capture_edges.assign(1, CUgraphEdgeData{});
    return node;
}

Work linear_copy(const void* destination, const void* source, std::size_t bytes) {
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    work.copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    work.copy.srcDevice = reinterpret_cast<CUdeviceptr>(source);
    work.copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    work.copy.dstDevice = reinterpret_cast<CUdeviceptr>(destination);
    work.copy.WidthInBytes = bytes;
    work.copy.Height = 1;
    work.copy.Depth = 1;
    return work;
}

Work strided_copy(const CUDA_MEMCPY3D& copy) {
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    work.copy = copy;
    work.copy.Height = std::max<std::size_t>(copy.Height, 1);
    work.copy.Depth = std::max<std::size_t>(copy.Depth, 1);
    return work;
}

Work memory_set(CUdeviceptr destination, unsigned value, unsigned element_bytes, std::size_t width, std::size_t height,
                std::size_t pitch) {
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_MEMSET;
    work.set.dst = destination;
    work.set.value = value;
    work.set.elementSize = element_bytes;
    work.set.width = width;
    work.set.height = height;
    work.set.pitch = pitch;
    return work;
}

}  // namespace sim

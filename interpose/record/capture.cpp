#include "interpose/record/capture.hpp"

#include "interpose/record/graph.hpp"
#include "interpose/resolve/driver_api.hpp"

namespace gpuspy::hook {

constinit std::atomic<int> active_captures{0};

void capture_began() noexcept {
    active_captures.fetch_add(1, std::memory_order_relaxed);
}

void capture_ended() noexcept {
    // A capture that began before us ends here too: never below zero.
    int count = active_captures.load(std::memory_order_relaxed);
    while (count > 0 && !active_captures.compare_exchange_weak(count, count - 1, std::memory_order_relaxed)) {
    }
}

namespace {

struct CaptureInfo {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode* nodes = nullptr;  ///< Of the driver; valid until the stream's next call.
    std::size_t node_count = 0;
};

/// False: the driver gave an error (a legacy stream while another stream captures) or has no such function (before 11.3).
bool get_capture_info(CUstream stream, bool per_thread, CaptureInfo* info) noexcept {
    const DriverApi& api = driver_api();
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    const auto v3 = per_thread ? api.stream_get_capture_info_v3_ptsz : api.stream_get_capture_info_v3;
    if (v3 != nullptr) {
        return v3(stream, &info->status, &id, &graph, &info->nodes, &edges, &info->node_count) == CUDA_SUCCESS;
    }
    const auto v2 = per_thread ? api.stream_get_capture_info_v2_ptsz : api.stream_get_capture_info_v2;
    return v2 != nullptr && v2(stream, &info->status, &id, &graph, &info->nodes, &info->node_count) == CUDA_SUCCESS;
}

}  // namespace

void mark_if_captured(const CallFrame& frame, CallParts& parts, bool per_thread) noexcept {
    const InsideGpuspy inside;
    CaptureInfo info;
    const auto stream = reinterpret_cast<CUstream>(parts.stream);
    if (!get_capture_info(stream, per_thread, &info) || info.status == CU_STREAM_CAPTURE_STATUS_NONE) return;
    parts.flags |= abi::kCallCaptured;
    // The call's node is what the stream's next node will depend on.
    if (info.node_count == 1) own_node(frame, parts, info.nodes[0]);
}

}  // namespace gpuspy::hook

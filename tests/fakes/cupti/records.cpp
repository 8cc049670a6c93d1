// Records of activities, and their faults.
#include <cstring>

#include "tests/fakes/cupti/activity.hpp"
#include "tests/fakes/cupti/driver.hpp"
#include "tests/fakes/cupti/faults.hpp"
#include "tests/fakes/cupti/state.hpp"

namespace sim::cupti {
namespace {

constexpr std::uint32_t kInventedCorrelation = 0x7fff0000;
constexpr std::uint64_t kAbsurdNs = 112'000'000'000;

// What CUpti_ActivityKernel10 added stands at its end, so a shorter record is its beginning.
static_assert(offsetof(CUpti_ActivityKernel10, graphNodeId) == offsetof(CUpti_ActivityKernel9, graphNodeId));
static_assert(offsetof(CUpti_ActivityKernel10, maxActiveClusters) ==
              offsetof(CUpti_ActivityKernel9, maxActiveClusters));

/// Client times, if the client registered a clock of its own: on a line, as the real library puts device times on it.
std::uint64_t client_time(std::uint64_t device_ns) {
    if (state().timestamp == nullptr) {
        return device_ns;
    }
    // Both at one moment: not with the thread put off in between.
    std::uint64_t now_ns = 0;
    std::uint64_t now = 0;
    std::uint64_t width_ns = ~std::uint64_t{0};
    for (int i = 0; i < 20 && width_ns > 500; ++i) {
        const std::uint64_t before_ns = find_driver()->now_ns();
        const std::uint64_t theirs = state().timestamp();
        const std::uint64_t taken_ns = find_driver()->now_ns() - before_ns;
        if (taken_ns < width_ns) {
            width_ns = taken_ns;
            now_ns = before_ns + taken_ns / 2;
            now = theirs;
        }
    }
    const auto span_ns = static_cast<double>(now_ns - state().device_origin_ns);
    const double rate = span_ns > 0 ? static_cast<double>(now - state().timestamp_origin) / span_ns : 1.0;
    const auto ahead_ns = static_cast<double>(static_cast<std::int64_t>(device_ns - now_ns));
    return now + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead_ns * rate));
}

CUpti_ActivityKernel10 kernel_record(const Activity& activity) {
    CUpti_ActivityKernel10 record{};
    record.kind =
        kind_enabled(CUPTI_ACTIVITY_KIND_KERNEL) ? CUPTI_ACTIVITY_KIND_KERNEL : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.start = client_time(activity.start_ns);
    record.end = client_time(activity.end_ns);
    record.completed = record.end;
    record.deviceId = activity.device;
    record.contextId = activity.context;
    record.streamId = activity.stream;
    record.gridX = static_cast<std::int32_t>(activity.grid[0]);
    record.gridY = static_cast<std::int32_t>(activity.grid[1]);
    record.gridZ = static_cast<std::int32_t>(activity.grid[2]);
    record.blockX = static_cast<std::int32_t>(activity.block[0]);
    record.blockY = static_cast<std::int32_t>(activity.block[1]);
    record.blockZ = static_cast<std::int32_t>(activity.block[2]);
    record.dynamicSharedMemory = static_cast<std::int32_t>(activity.dynamic_shared_bytes);
    record.registersPerThread = 32;
    record.correlationId = activity.correlation;
    record.name = activity.name;
    record.launchType = activity.cooperative ? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE
                                             : CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
    record.graphNodeId = activity.graph_node;
    record.graphId = activity.graph_exec;
    return record;
}

void add_kernel(const CUpti_ActivityKernel10& record, std::uint64_t complete_ns) {
    add_record(&record, record_bytes(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), complete_ns);
}

void take_kernel(const Activity& activity) {
    CUpti_ActivityKernel10 record = kernel_record(activity);
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(state().mutex);
        number = ++state().kernels;
        if (number <= faults().drop) {
            ++state().dropped;
            return;
        }
    }
    if (number == faults().zero_time) {
        record.start = record.end = record.completed = 0;
    }
    if (number == faults().absurd) {
        record.end = record.start + kAbsurdNs;
    }
    if (number != faults().withhold) {
        add_kernel(record, activity.end_ns);
    }
    if (number == faults().invent) {
        record.correlationId = kInventedCorrelation;
        add_kernel(record, activity.end_ns);
    }
}

void take_copy(const Activity& activity) {
    CUpti_ActivityMemcpy6 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.copyKind = activity.copy_kind;
    record.srcKind = activity.source_kind;
    record.dstKind = activity.destination_kind;
    record.flags = activity.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
    record.bytes = activity.bytes;
    record.start = client_time(activity.start_ns);
    record.end = client_time(activity.end_ns);
    record.deviceId = activity.device;
    record.contextId = activity.context;
    record.streamId = activity.stream;
    record.correlationId = activity.correlation;
    record.graphNodeId = activity.graph_node;
    record.graphId = activity.graph_exec;
    record.copyCount = 1;
    add_record(&record, sizeof record, activity.end_ns);
}

void take_peer_copy(const Activity& activity) {
    CUpti_ActivityMemcpyPtoP4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    record.copyKind = activity.copy_kind;
    record.srcKind = activity.source_kind;
    record.dstKind = activity.destination_kind;
    record.flags = activity.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
    record.bytes = activity.bytes;
    record.start = client_time(activity.start_ns);
    record.end = client_time(activity.end_ns);
    record.deviceId = activity.device;
    record.contextId = activity.context;
    record.streamId = activity.stream;
    record.srcDeviceId = activity.device;
    record.srcContextId = activity.context;
    record.dstDeviceId = activity.peer_device;
    record.dstContextId = activity.peer_context;
    record.correlationId = activity.correlation;
    record.graphNodeId = activity.graph_node;
    record.graphId = activity.graph_exec;
    add_record(&record, sizeof record, activity.end_ns);
}

void take_set(const Activity& activity) {
    CUpti_ActivityMemset4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record.value = activity.value;
    record.bytes = activity.bytes;
    record.start = client_time(activity.start_ns);
    record.end = client_time(activity.end_ns);
    record.deviceId = activity.device;
    record.contextId = activity.context;
    record.streamId = activity.stream;
    record.correlationId = activity.correlation;
    record.flags = activity.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
    record.memoryKind = activity.destination_kind;
    record.graphNodeId = activity.graph_node;
    record.graphId = activity.graph_exec;
    add_record(&record, sizeof record, activity.end_ns);
}

}  // namespace

bool kind_enabled(CUpti_ActivityKind kind) {
    return state().enabled[kind].load(std::memory_order_relaxed) ||
           state().in_contexts[kind].load(std::memory_order_relaxed);
}

bool wants_activity(CUgraphNodeType type) {
    switch (type) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            return kind_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) || kind_enabled(CUPTI_ACTIVITY_KIND_KERNEL);
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return kind_enabled(CUPTI_ACTIVITY_KIND_MEMCPY) || kind_enabled(CUPTI_ACTIVITY_KIND_MEMCPY2);
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return kind_enabled(CUPTI_ACTIVITY_KIND_MEMSET);
        default:
            return false;
    }
}

void take_activity(const Activity& activity) {
    if (activity.type == CU_GRAPH_NODE_TYPE_KERNEL) {
        take_kernel(activity);
    } else if (activity.type == CU_GRAPH_NODE_TYPE_MEMSET) {
        take_set(activity);
    } else if (activity.copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) {
        if (kind_enabled(CUPTI_ACTIVITY_KIND_MEMCPY2)) {
            take_peer_copy(activity);
        }
    } else if (kind_enabled(CUPTI_ACTIVITY_KIND_MEMCPY)) {
        take_copy(activity);
    }
}

std::size_t record_bytes(CUpti_ActivityKind kind) {
    switch (kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return faults().version >= 130000 ? sizeof(CUpti_ActivityKernel10) : sizeof(CUpti_ActivityKernel9);
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return sizeof(CUpti_ActivityMemcpy6);
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            return sizeof(CUpti_ActivityMemcpyPtoP4);
        case CUPTI_ACTIVITY_KIND_MEMSET:
            return sizeof(CUpti_ActivityMemset4);
        case CUPTI_ACTIVITY_KIND_DRIVER:
            return sizeof(CUpti_ActivityAPI);
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
            return sizeof(CUpti_ActivityExternalCorrelation);
        default:
            return 0;
    }
}

void add_external_correlations(std::uint32_t correlation) {
    if (!kind_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
        return;
    }
    std::map<CUpti_ExternalCorrelationKind, std::uint64_t> innermost;
    for (const auto& [kind, id] : external_ids()) {
        innermost[kind] = id;
    }
    for (const auto& [kind, id] : innermost) {
        CUpti_ActivityExternalCorrelation record{};
        record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
        record.externalKind = kind;
        record.externalId = id;
        record.correlationId = correlation;
        add_record(&record, sizeof record, 0);
    }
}

}  // namespace sim::cupti

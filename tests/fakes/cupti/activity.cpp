#include "tests/fakes/cupti/activity.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/fakes/cupti/callback.hpp"
#include "tests/fakes/cupti/driver.hpp"
#include "tests/fakes/cupti/faults.hpp"

namespace sim::cupti {
namespace {

constexpr std::uint32_t kInventedCorrelation = 0x7fff0000;
constexpr std::uint64_t kAbsurdNs = 112'000'000'000;
constexpr std::size_t kHarvestThreshold = 64;
constexpr std::size_t kAlignment = 8;

// What CUpti_ActivityKernel10 added stands at its end, so a shorter record is its beginning.
static_assert(offsetof(CUpti_ActivityKernel10, graphNodeId) == offsetof(CUpti_ActivityKernel9, graphNodeId));
static_assert(offsetof(CUpti_ActivityKernel10, maxActiveClusters) ==
              offsetof(CUpti_ActivityKernel9, maxActiveClusters));

struct Pending {
    std::uint64_t complete_ns;
    std::vector<std::uint8_t> bytes;
};

struct Buffer {
    std::uint8_t* memory = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
    std::size_t max_records = 0;
    std::size_t records = 0;

    bool fits(std::size_t bytes) const { return used + bytes <= size && (max_records == 0 || records < max_records); }
};

// Never destroyed: a flush can come from an exit handler.
struct State {
    std::mutex mutex;
    std::array<std::atomic<bool>, CUPTI_ACTIVITY_KIND_COUNT> enabled{};
    CUpti_BuffersCallbackRequestFunc request = nullptr;
    CUpti_BuffersCallbackCompleteFunc complete = nullptr;
    CUpti_TimestampCallbackFunc timestamp = nullptr;
    std::deque<Pending> pending;
    std::vector<Buffer> spare;  ///< Requested, not yet used.
    Buffer current;
    std::size_t dropped = 0;
    std::uint64_t kernels = 0;
    std::atomic<std::uint32_t> flush_period_ms{0};
    std::map<int, std::size_t> attributes;
};

State& state() {
    static auto* const instance = new State;
    return *instance;
}

std::vector<std::pair<CUpti_ExternalCorrelationKind, std::uint64_t>>& external_ids() {
    thread_local std::vector<std::pair<CUpti_ExternalCorrelationKind, std::uint64_t>> stack;
    return stack;
}

Buffer request_buffer() {
    Buffer buffer;
    state().request(&buffer.memory, &buffer.size, &buffer.max_records);
    if (buffer.memory == nullptr) {
        std::fprintf(stderr, "simulated CUPTI: bufferRequested gave no buffer\n");
        std::abort();  // As CUPTI below 12.9 crashed.
    }
    return buffer;
}

/// Client times, if the client registered a clock of its own.
std::uint64_t client_time(std::uint64_t device_ns) {
    return state().timestamp == nullptr ? device_ns : state().timestamp() - (find_driver()->now_ns() - device_ns);
}

CUpti_ActivityKernel10 kernel_record(const Activity& activity) {
    CUpti_ActivityKernel10 record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
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

/// Times of a record that is handed out before its activity ended.
void untime(std::vector<std::uint8_t>& bytes) {
    CUpti_ActivityKind kind;
    std::memcpy(&kind, bytes.data(), sizeof kind);
    const auto clear = [&bytes](auto record) {
        std::memcpy(&record, bytes.data(), std::min(sizeof record, bytes.size()));
        record.start = record.end = 0;
        std::memcpy(bytes.data(), &record, std::min(sizeof record, bytes.size()));
    };
    switch (kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return clear(CUpti_ActivityKernel10{});
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return clear(CUpti_ActivityMemcpy6{});
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            return clear(CUpti_ActivityMemcpyPtoP4{});
        case CUPTI_ACTIVITY_KIND_MEMSET:
            return clear(CUpti_ActivityMemset4{});
        default:
            return;
    }
}

/// Moves complete records into the current buffer until it is full (true) or there are no more. Under the lock.
bool fill(bool forced) {
    State& all = state();
    const std::uint64_t now = find_driver()->now_ns();
    for (auto record = all.pending.begin(); record != all.pending.end();) {
        const bool complete = record->complete_ns <= now;
        if (!complete && !forced) {
            ++record;
            continue;
        }
        if (!all.current.fits(record->bytes.size())) {
            return true;
        }
        if (!complete) {
            untime(record->bytes);
        }
        std::memcpy(all.current.memory + all.current.used, record->bytes.data(), record->bytes.size());
        all.current.used += record->bytes.size();
        ++all.current.records;
        record = all.pending.erase(record);
    }
    return false;
}

void flush_periodically() {
    while (true) {
        const std::uint32_t period = state().flush_period_ms;
        std::this_thread::sleep_for(std::chrono::milliseconds(period != 0 ? period : 100));
        if (period != 0) {
            harvest(true, false);
        }
    }
}

bool known(CUpti_ActivityKind kind) {
    return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT;
}

}  // namespace

bool kind_enabled(CUpti_ActivityKind kind) {
    return state().enabled[kind].load(std::memory_order_relaxed);
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

void add_record(const void* record, std::size_t bytes, std::uint64_t time_ns) {
    static_assert(sizeof(CUpti_ActivityKernel10) % kAlignment == 0 && sizeof(CUpti_ActivityMemcpy6) % kAlignment == 0);
    bool need_buffer = false;
    bool enough = false;
    {
        const std::lock_guard lock(state().mutex);
        if (state().request == nullptr) {
            ++state().dropped;
            return;
        }
        const auto* first = static_cast<const std::uint8_t*>(record);
        state().pending.push_back({time_ns, {first, first + bytes}});
        need_buffer = state().current.memory == nullptr && state().spare.empty();
        enough = state().pending.size() >= kHarvestThreshold;
    }
    if (need_buffer) {
        const Buffer buffer = request_buffer();  // On the launching thread, as the real library does.
        const std::lock_guard lock(state().mutex);
        state().spare.push_back(buffer);
    }
    if (enough) {
        harvest(false, false);
    }
}

void harvest(bool all, bool forced) {
    while (true) {
        Buffer done;
        bool need_buffer = false;
        bool full = false;
        {
            const std::lock_guard lock(state().mutex);
            if (state().current.memory == nullptr && !state().spare.empty()) {
                state().current = state().spare.back();
                state().spare.pop_back();
            }
            need_buffer = state().current.memory == nullptr && !state().pending.empty();
            if (!need_buffer && state().current.memory != nullptr) {
                full = fill(forced);
                if (full || (all && state().current.used != 0)) {
                    done = state().current;
                    state().current = {};
                }
            }
        }
        if (need_buffer) {
            const Buffer buffer = request_buffer();
            const std::lock_guard lock(state().mutex);
            state().spare.push_back(buffer);
            continue;
        }
        if (done.memory != nullptr) {
            state().complete(nullptr, 0, done.memory, done.size, done.used);
        }
        if (!full) {
            return;
        }
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

using sim::cupti::faults;
using sim::cupti::state;

extern "C" {

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
    if (request == nullptr || complete == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (faults().register_error != 0) {
        return static_cast<CUptiResult>(faults().register_error);
    }
    const std::lock_guard lock(state().mutex);
    state().request = request;  // A second registration replaces the first, without a word.
    state().complete = complete;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
    if (!sim::cupti::known(kind)) {
        return CUPTI_ERROR_INVALID_KIND;
    }
    if (!sim::cupti::attach()) {
        return CUPTI_ERROR_NOT_INITIALIZED;
    }
    state().enabled[kind] = true;
    if (kind == CUPTI_ACTIVITY_KIND_DRIVER) {
        sim::cupti::forget_single_apis();
    }
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
    if (!sim::cupti::known(kind)) {
        return CUPTI_ERROR_INVALID_KIND;
    }
    state().enabled[kind] = false;
    if (kind == CUPTI_ACTIVITY_KIND_DRIVER) {
        sim::cupti::forget_single_apis();
    }
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableContext(CUcontext, CUpti_ActivityKind kind) {
    return cuptiActivityEnable(kind);
}
CUptiResult CUPTIAPI cuptiActivityDisableContext(CUcontext, CUpti_ActivityKind kind) {
    return cuptiActivityDisable(kind);
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag) {
    if (faults().hang_flush_ms != 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(faults().hang_flush_ms));
    }
    if (state().request == nullptr) {
        return CUPTI_ERROR_INVALID_OPERATION;
    }
    if (sim::cupti::find_driver() != nullptr) {
        sim::cupti::harvest(true, (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
    }
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t time) {
    static std::once_flag started;
    state().flush_period_ms = time;
    std::call_once(started, [] { std::thread(sim::cupti::flush_periodically).detach(); });
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
    if (buffer == nullptr || record == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    std::size_t offset = 0;
    if (*record != nullptr) {
        offset = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) +
                 sim::cupti::record_bytes((*record)->kind);
    }
    if (offset >= valid_bytes) {
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    }
    auto* next = reinterpret_cast<CUpti_Activity*>(buffer + offset);
    if (sim::cupti::record_bytes(next->kind) == 0) {
        return CUPTI_ERROR_INVALID_KIND;
    }
    *record = next;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
    const std::lock_guard lock(state().mutex);
    *dropped = state().dropped;
    state().dropped = 0;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* size, void* value) {
    if (size == nullptr || value == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    const std::lock_guard lock(state().mutex);
    std::memcpy(&state().attributes[attribute], value, std::min(*size, sizeof(std::size_t)));
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, size_t* size, void* value) {
    if (size == nullptr || value == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    const std::lock_guard lock(state().mutex);
    std::memcpy(value, &state().attributes[attribute], std::min(*size, sizeof(std::size_t)));
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
    sim::cupti::external_ids().emplace_back(kind, id);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t* last) {
    auto& ids = sim::cupti::external_ids();
    for (auto entry = ids.rbegin(); entry != ids.rend(); ++entry) {
        if (entry->first == kind) {
            if (last != nullptr) {
                *last = entry->second;
            }
            ids.erase(std::next(entry).base());
            return CUPTI_SUCCESS;
        }
    }
    return CUPTI_ERROR_QUEUE_EMPTY;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
    const std::lock_guard lock(state().mutex);
    state().timestamp = function;
    return CUPTI_SUCCESS;
}
}

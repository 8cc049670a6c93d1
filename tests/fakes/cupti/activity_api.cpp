// The exported functions of the activity half.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <thread>

#include "tests/fakes/cupti/activity.hpp"
#include "tests/fakes/cupti/callback.hpp"
#include "tests/fakes/cupti/driver.hpp"
#include "tests/fakes/cupti/faults.hpp"
#include "tests/fakes/cupti/state.hpp"

namespace sim::cupti {
namespace {

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

/// Kinds that exclude kernels as they run: the one that serialises them, and (before CUDA 13) sampling.
constexpr CUpti_ActivityKind kExclusive[] = {CUPTI_ACTIVITY_KIND_KERNEL, CUPTI_ACTIVITY_KIND_PC_SAMPLING};

bool is_excluded(CUpti_ActivityKind kind) {
    for (const CUpti_ActivityKind other : kExclusive) {
        if ((kind == other && kind_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) ||
            (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && kind_enabled(other))) {
            return true;
        }
    }
    return false;
}

/// False: the second set of activity functions is in use (newer_api.cpp).
bool use_first() {
    Functions none = Functions::kNone;
    return state().functions.compare_exchange_strong(none, Functions::kFirst) || none == Functions::kFirst;
}

}  // namespace

CUptiResult enable_kind(CUpti_ActivityKind kind, CUcontext context) {
    if (!known(kind)) {
        return CUPTI_ERROR_INVALID_KIND;
    }
    if (is_excluded(kind)) {
        return CUPTI_ERROR_NOT_COMPATIBLE;
    }
    if (!attach()) {
        return CUPTI_ERROR_NOT_INITIALIZED;
    }
    if (context != nullptr) {
        const std::lock_guard lock(state().mutex);
        state().contexts[kind].insert(context);
        state().in_contexts[kind] = true;
        return CUPTI_SUCCESS;
    }
    state().enabled[kind] = true;
    if (kind == CUPTI_ACTIVITY_KIND_DRIVER) {
        forget_single_apis();
    }
    return CUPTI_SUCCESS;
}

CUptiResult disable_kind(CUpti_ActivityKind kind, CUcontext context) {
    if (!known(kind)) {
        return CUPTI_ERROR_INVALID_KIND;
    }
    if (context != nullptr) {
        const std::lock_guard lock(state().mutex);
        state().contexts[kind].erase(context);
        state().in_contexts[kind] = !state().contexts[kind].empty();
        return CUPTI_SUCCESS;
    }
    state().enabled[kind] = false;
    if (kind == CUPTI_ACTIVITY_KIND_DRIVER) {
        forget_single_apis();
    }
    return CUPTI_SUCCESS;
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
    if (!sim::cupti::use_first()) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
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
    return sim::cupti::use_first() ? sim::cupti::enable_kind(kind, nullptr)
                                   : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}
CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
    return sim::cupti::disable_kind(kind, nullptr);
}

CUptiResult CUPTIAPI cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind) {
    return sim::cupti::enable_kind(kind, context);
}
CUptiResult CUPTIAPI cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind) {
    return sim::cupti::disable_kind(kind, context);
}

CUptiResult CUPTIAPI cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
    return sim::cupti::enable_kind(kind, nullptr);
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

CUptiResult CUPTIAPI cuptiActivityFlush(CUcontext, uint32_t, uint32_t flag) {
    return cuptiActivityFlushAll(flag);
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
    if (state().timestamp != nullptr && function != nullptr) {
        std::fprintf(stderr, "simulated CUPTI: a clock is registered twice, which spoils the real one's records\n");
    }
    if (function != nullptr && sim::cupti::find_driver() != nullptr) {
        state().device_origin_ns = sim::cupti::find_driver()->now_ns();
        state().timestamp_origin = function();
    }
    state().timestamp = function;
    return CUPTI_SUCCESS;
}
}

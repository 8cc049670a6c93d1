#include "tests/fakes/cupti/callback.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

#include <cupti.h>

#include "tests/fakes/cupti/activity.hpp"
#include "tests/fakes/cupti/driver.hpp"
#include "tests/fakes/cupti/faults.hpp"

// The handle of a subscriber is a pointer to this struct, which cupti_callbacks.h only declares.
struct CUpti_Subscriber_st {
    std::atomic<CUpti_CallbackFunc> callback{nullptr};
    std::atomic<void*> data{nullptr};
    std::atomic<bool> taken{false};
    std::array<std::atomic<bool>, CUPTI_DRIVER_TRACE_CBID_SIZE> driver_calls{};
};

namespace sim::cupti {
namespace {

CUpti_Subscriber_st& subscriber() {
    static auto* const instance = new CUpti_Subscriber_st;
    return *instance;
}

struct Apis {
    std::array<std::atomic<bool>, CUPTI_DRIVER_TRACE_CBID_SIZE> chosen{};
};

Apis& single_apis() {
    static auto* const instance = new Apis;
    return *instance;
}

bool wants_callback(std::uint32_t cbid) {
    return subscriber().driver_calls[cbid].load(std::memory_order_relaxed) && subscriber().callback.load() != nullptr;
}

bool wants_record(std::uint32_t cbid) {
    return kind_enabled(CUPTI_ACTIVITY_KIND_DRIVER) || single_apis().chosen[cbid].load(std::memory_order_relaxed);
}

void call_back(const ApiCall& call) {
    CUpti_CallbackData data{};
    data.callbackSite = call.enter ? CUPTI_API_ENTER : CUPTI_API_EXIT;
    data.functionName = call.name;
    data.functionParams = call.params;
    data.functionReturnValue = call.result;
    data.symbolName = call.kernel_name;
    data.context = call.context;
    data.contextUid = call.context_id;
    data.correlationData = call.correlation_data;
    data.correlationId = call.correlation;
    if (CUpti_CallbackFunc callback = subscriber().callback.load()) {
        callback(subscriber().data.load(), CUPTI_CB_DOMAIN_DRIVER_API, call.cbid, &data);
    }
}

void record_api(const ApiCall& call) {
    thread_local std::uint64_t begin_ns = 0;
    const std::uint64_t now_ns = find_driver()->now_ns();
    if (call.enter) {
        begin_ns = now_ns;
        add_external_correlations(call.correlation);
        return;
    }
    CUpti_ActivityAPI record{};
    record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    record.cbid = call.cbid;
    record.start = begin_ns;
    record.end = now_ns;
    record.processId = static_cast<std::uint32_t>(getpid());
    record.threadId = static_cast<std::uint32_t>(gettid());
    record.correlationId = call.correlation;
    record.returnValue = static_cast<std::uint32_t>(*call.result);
    add_record(&record, sizeof record, 0);
}

CUptiResult subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* data) {
    if (faults().subscribe_error != 0) {
        return static_cast<CUptiResult>(faults().subscribe_error);
    }
    if (!attach()) {
        return find_driver() == nullptr ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    if (subscriber().taken.exchange(true)) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    subscriber().data = data;
    subscriber().callback = callback;
    *handle = &subscriber();
    return CUPTI_SUCCESS;
}

}  // namespace

bool wants_call(std::uint32_t cbid) {
    return wants_callback(cbid) || wants_record(cbid);
}

void take_call(const ApiCall& call) {
    if (wants_callback(call.cbid)) {
        call_back(call);
    }
    if (wants_record(call.cbid)) {
        record_api(call);
    }
}

void forget_single_apis() {
    for (auto& chosen : single_apis().chosen) {
        chosen = false;
    }
}

}  // namespace sim::cupti

using sim::cupti::subscriber;

extern "C" {

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* data) {
    return handle == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : sim::cupti::subscribe(handle, callback, data);
}

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* data,
                                       CUpti_SubscriberParams* parameters) {
    if (handle == nullptr || (parameters != nullptr && parameters->structSize == 0)) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    const CUptiResult result = sim::cupti::subscribe(handle, callback, data);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && parameters != nullptr &&
        parameters->oldSubscriberName != nullptr) {
        std::snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize,
                      "CUPTI for the simulated other tool");
    }
    return result;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
    if (handle != &subscriber() || !subscriber().taken) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    for (auto& enabled : handle->driver_calls) {
        enabled = false;
    }
    handle->callback = nullptr;
    handle->taken = false;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                         CUpti_CallbackId cbid) {
    if (handle != &subscriber() || domain == CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        if (cbid == CUPTI_DRIVER_TRACE_CBID_INVALID || cbid >= CUPTI_DRIVER_TRACE_CBID_SIZE) {
            return CUPTI_ERROR_INVALID_PARAMETER;
        }
        handle->driver_calls[cbid] = enable != 0;
    }
    return CUPTI_SUCCESS;  // Other domains have nothing to tell on the simulated device.
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain) {
    if (handle != &subscriber() || domain == CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        for (auto& enabled : handle->driver_calls) {
            enabled = enable != 0;
        }
    }
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle) {
    return cuptiEnableDomain(enable, handle, CUPTI_CB_DOMAIN_DRIVER_API);
}

CUptiResult CUPTIAPI cuptiGetCallbackState(uint32_t* enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                           CUpti_CallbackId cbid) {
    if (enable == nullptr || handle != &subscriber()) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    *enable = domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid < CUPTI_DRIVER_TRACE_CBID_SIZE && handle->driver_calls[cbid];
    return CUPTI_SUCCESS;
}

// As measured: choosing single driver functions has no effect, and gives no error, once a context exists.
CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
    if (cbid == CUPTI_DRIVER_TRACE_CBID_INVALID || cbid >= CUPTI_DRIVER_TRACE_CBID_SIZE) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (!sim::cupti::attach()) {
        return CUPTI_ERROR_NOT_INITIALIZED;
    }
    // Whether a choice can be taken back later was not measured; here it can.
    if (enable == 0 || !sim::cupti::find_driver()->has_context()) {
        sim::cupti::single_apis().chosen[cbid] = enable != 0;
    }
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t) {
    return cbid == CUPTI_RUNTIME_TRACE_CBID_INVALID || cbid >= CUPTI_RUNTIME_TRACE_CBID_SIZE
               ? CUPTI_ERROR_INVALID_PARAMETER
               : CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize() {
    sim::cupti::detach();
    sim::cupti::forget_records();
    sim::cupti::forget_single_apis();
    if (subscriber().taken) {
        cuptiUnsubscribe(&subscriber());
    }
    return CUPTI_SUCCESS;
}
}

#include "interpose/device/subscriber.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>

#include "collector/ring/clock.hpp"
#include "interpose/device/device.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/record/call.hpp"
#include "interpose/resolve/elf.hpp"

namespace gpuspy::hook {
namespace {

constinit CUpti_SubscriberHandle handle = nullptr;
constinit char holder[128] = {};
constinit std::atomic<bool> host_registered{false};

struct Watched {
    HookId hook;
    CUpti_CallbackId callback;
    abi::ApiClass api_class;
};

constexpr Watched kDriverCalls[] = {
#define HOOK(name, api_class, ...) {HookId::name, CUPTI_DRIVER_TRACE_CBID_##name, abi::ApiClass::api_class},
#include "interpose/table/driver.def"
#undef HOOK
};

HookId hook_of(CUpti_CallbackId callback) noexcept {
    for (const Watched& call : kDriverCalls) {
        if (call.callback == callback) return call.hook;
    }
    return HookId::kCount;
}

/// The driver call that CUPTI tells us of was not entered through a hook (a route that we do not see): record what is
/// known of it, so that its device records have a launch.
void write_unhooked(ThreadState& state, HookId hook, const CUpti_CallbackData& data,
                    std::uint64_t begin_ticks) noexcept {
    if (state.depth >= kMaxDepth) return;
    CallFrame frame{&state, nullptr, begin_ticks, state.depth, hook, false};
    state.open[state.depth] = {nullptr, hook, 0, 0};
    CallParts parts;
    parts.flags = abi::kCallUnhooked | abi::kCallCorrelation;
    parts.correlation = data.correlationId;
    if (const auto* result = static_cast<const CUresult*>(data.functionReturnValue);
        result != nullptr && *result != 0) {
        parts.status = static_cast<int>(*result);
        parts.flags |= abi::kCallStatus;
    }
    end_call(frame, parts);
}

/// On the thread that makes the call, inside the driver. `correlationData` is one word per call, ours between enter and exit.
void CUPTIAPI driver_called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId callback, const void* raw) {
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
    const auto& data = *static_cast<const CUpti_CallbackData*>(raw);
    ThreadState* state = current_thread();
    if (data.callbackSite == CUPTI_API_ENTER) {
        *data.correlationData = 0;
        if (state != nullptr && state->device_calls != 0 && thread_local_state.correlation == 0) {
            thread_local_state.correlation = data.correlationId;
        } else {
            *data.correlationData = ring::ticks();
        }
        return;
    }
    if (*data.correlationData == 0) return;
    if (state == nullptr) state = enter_recording();
    const HookId hook = hook_of(callback);
    if (state != nullptr && hook != HookId::kCount) write_unhooked(*state, hook, data, *data.correlationData);
}

}  // namespace

CUptiResult subscribe(const CuptiApi& api) noexcept {
    const CUptiResult subscribed = api.subscribe(&handle, driver_called, nullptr);
    if (subscribed != CUPTI_SUCCESS) return subscribed;
    for (const Watched& call : kDriverCalls) {
        // An older CUPTI does not know newer functions: the driver that it fits does not have them either.
        if (makes_device_work(call.api_class))
            api.enable_callback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, call.callback);
    }
    return CUPTI_SUCCESS;
}

void unsubscribe(const CuptiApi& api) noexcept {
    api.unsubscribe(handle);
}

bool has_host_registered() noexcept {
    return host_registered.load(std::memory_order_relaxed);
}

const char* cupti_holder() noexcept {
    return holder;
}

void host_takes_cupti(const void* caller, const char* function) noexcept {
    elf::Object object;
    if (elf::find_object(caller, &object)) snprintf(holder, sizeof holder, "%s", elf::soname(object));
    if (holder[0] == 0) snprintf(holder, sizeof holder, "the program");
    if (strcmp(function, "cuptiActivityRegisterCallbacks") == 0) host_registered.store(true, std::memory_order_relaxed);
    char reason[256];
    snprintf(reason, sizeof reason, "%s took CUPTI for itself (%s)", holder, function);
    device_yield(reason);
}

}  // namespace gpuspy::hook

#include "interpose/device/subscriber.hpp"

#include <array>
#include <cstddef>

// After cuda_headers.hpp (subscriber.hpp): the arguments of each driver function, as CUPTI hands them to a callback.
#include <generated_cuda_meta.h>

#include "collector/ring/clock.hpp"
#include "interpose/device/device.hpp"
#include "interpose/device/host_session.hpp"
#include "interpose/device/shared_subscriber.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/record/call.hpp"
#include "interpose/record/capture.hpp"

namespace gpuspy::hook {
namespace {

/// A driver function, as its line in the table says.
struct Watched {
    HookId hook;
    CUpti_CallbackId callback;
    abi::ApiClass api_class;
    bool is_per_thread;
};

constexpr Watched kDriverCalls[] = {
#define HOOK(name, api_class, ...) \
    {HookId::name, CUPTI_DRIVER_TRACE_CBID_##name, abi::ApiClass::api_class, is_per_thread(#name)},
#include "interpose/table/driver.def"
#undef HOOK
};

constexpr CUpti_CallbackId kCaptureBegins[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,        CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,     CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz,
};
constexpr CUpti_CallbackId kCaptureEnds[] = {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
                                             CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz};

template <std::size_t Count>
constexpr bool is_among(const CUpti_CallbackId (&callbacks)[Count], CUpti_CallbackId callback) noexcept {
    for (const CUpti_CallbackId known : callbacks) {
        if (known == callback) return true;
    }
    return false;
}

const Watched* call_of(CUpti_CallbackId callback) noexcept {
    for (const Watched& call : kDriverCalls) {
        if (call.callback == callback) return &call;
    }
    return nullptr;
}

/// The ids that we are called back for.
constexpr auto make_wanted() {
    std::array<bool, CUPTI_DRIVER_TRACE_CBID_SIZE> wanted{};
    for (const Watched& call : kDriverCalls) wanted[call.callback] = makes_device_work(call.api_class);
    for (const CUpti_CallbackId id : kCaptureBegins) wanted[id] = true;
    for (const CUpti_CallbackId id : kCaptureEnds) wanted[id] = true;
    return wanted;
}
constexpr auto kWanted = make_wanted();

bool wants(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept {
    return domain == CUPTI_CB_DOMAIN_DRIVER_API && id < kWanted.size() && kWanted[id];
}

void put_stream(CallParts& parts, CUstream stream) noexcept {
    parts.flags |= abi::kCallStream;
    parts.stream = reinterpret_cast<std::uintptr_t>(stream);
}

void put_exec(CallParts& parts, CUgraphExec exec) noexcept {
    parts.flags |= abi::kCallGraph;
    parts.exec = reinterpret_cast<std::uintptr_t>(exec);
}

template <class Arguments>
void read_arguments(CallParts& parts, const Arguments& call) noexcept {
    if constexpr (requires { call.hStream; }) put_stream(parts, call.hStream);
    if constexpr (requires { call.gridDimX, call.blockDimX, call.sharedMemBytes; }) {
        put_kernel(parts, reinterpret_cast<std::uintptr_t>(call.f), {call.gridDimX, call.gridDimY, call.gridDimZ},
                   {call.blockDimX, call.blockDimY, call.blockDimZ}, call.sharedMemBytes);
    }
    if constexpr (requires { call.config, call.f; }) {
        // The call succeeded: the driver has read what stands there.
        const CUlaunchConfig& config = *call.config;
        put_stream(parts, config.hStream);
        put_kernel(parts, reinterpret_cast<std::uintptr_t>(call.f), {config.gridDimX, config.gridDimY, config.gridDimZ},
                   {config.blockDimX, config.blockDimY, config.blockDimZ}, config.sharedMemBytes);
    }
    // Executable graphs are named so in one form of cuGraphLaunch, and so in the other.
    if constexpr (requires { call.hGraph; }) put_exec(parts, call.hGraph);
    if constexpr (requires { call.hGraphExec; }) put_exec(parts, call.hGraphExec);
}

/// What a launch, copy or set that succeeded was told, from CUPTI's copy of its arguments.
void read_arguments(CallParts& parts, CUpti_CallbackId callback, const void* arguments) noexcept {
    if (arguments == nullptr) return;
    switch (callback) {
#define GPUSPY_ARGUMENTS(name)                                                \
    case CUPTI_DRIVER_TRACE_CBID_##name:                                      \
        read_arguments(parts, *static_cast<const name##_params*>(arguments)); \
        break;
#define GPUSPY_ARGUMENTS_kLaunch GPUSPY_ARGUMENTS
#define GPUSPY_ARGUMENTS_kGraphLaunch GPUSPY_ARGUMENTS
#define GPUSPY_ARGUMENTS_kCopy GPUSPY_ARGUMENTS
#define GPUSPY_ARGUMENTS_kSet GPUSPY_ARGUMENTS
#define GPUSPY_ARGUMENTS_kMulti(name)
#define GPUSPY_ARGUMENTS_kSync(name)
#define GPUSPY_ARGUMENTS_kMemory(name)
#define GPUSPY_ARGUMENTS_kGraph(name)
#define GPUSPY_ARGUMENTS_kName(name)
#define GPUSPY_ARGUMENTS_kContext(name)
#define GPUSPY_ARGUMENTS_kOther(name)
#define HOOK(name, api_class, ...) GPUSPY_ARGUMENTS_##api_class(name)
#include "interpose/table/driver.def"
#undef HOOK
        default:
            break;
    }
}

/// The driver call that CUPTI tells us of was not entered through a hook (a route that we do not see): record what is
/// known of it, so that its device records have a launch.
void write_unhooked(ThreadState& state, const Watched& call, const CUpti_CallbackData& data,
                    std::uint64_t begin_ticks) noexcept {
    if (state.depth >= kMaxDepth) return;
    CallFrame frame{&state, nullptr, begin_ticks, state.depth, call.hook, false};
    state.open[state.depth] = {nullptr, call.hook, 0, 0};
    CallParts parts;
    parts.flags = abi::kCallUnhooked;
    const auto* result = static_cast<const CUresult*>(data.functionReturnValue);
    if (result != nullptr && *result != CUDA_SUCCESS) {
        parts.status = static_cast<int>(*result);
        parts.flags |= abi::kCallStatus;
    } else {
        read_arguments(parts, call.callback, data.functionParams);
        // Asked for each such call, since the capture may have begun unseen too. Without a stream there is no capture.
        if ((parts.flags & abi::kCallStream) != 0) mark_if_captured(frame, parts, call.is_per_thread);
    }
    if ((parts.flags & abi::kCallCaptured) == 0) {
        parts.flags |= abi::kCallCorrelation;
        parts.correlation = data.correlationId;
    }
    constexpr std::uint64_t kPerThreadStream = 2;  // CU_STREAM_PER_THREAD
    if (call.is_per_thread && (parts.flags & abi::kCallStream) != 0 && parts.stream == 0)
        parts.stream = kPerThreadStream;
    end_call(frame, parts);
}

/// Captures that hooks see are counted by the hooks.
void capture_called(CUpti_CallbackId callback, const CUpti_CallbackData& data) noexcept {
    const Watched* call = call_of(callback);
    const ThreadState* state = current_thread();
    const bool is_hooked =
        state != nullptr && state->depth > 0 && call != nullptr && state->open[state->depth - 1].id == call->hook;
    const auto* result = static_cast<const CUresult*>(data.functionReturnValue);
    if (data.callbackSite != CUPTI_API_EXIT || is_hooked || result == nullptr) return;
    if (is_among(kCaptureEnds, callback)) {
        if (*result == CUDA_SUCCESS || *result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) capture_ended();
    } else if (*result == CUDA_SUCCESS) {
        capture_began();
    }
}

/// On the thread that makes the call, inside the driver. CUPTI's word between enter and exit of a call (correlationData) is left to the
/// host, which may be called back too.
void driver_called(CUpti_CallbackDomain, CUpti_CallbackId callback, const void* raw) noexcept {
    const auto& data = *static_cast<const CUpti_CallbackData*>(raw);
    if (is_among(kCaptureBegins, callback) || is_among(kCaptureEnds, callback)) {
        capture_called(callback, data);
        return;
    }
    ThreadLocal& local = thread_local_state;
    ThreadState* state = current_thread();
    if (data.callbackSite == CUPTI_API_ENTER) {
        note_correlation(data.correlationId);
        if (state != nullptr && state->device_calls != 0 && local.correlation == 0) {
            local.correlation = data.correlationId;
        } else {
            local.unhooked_correlation = data.correlationId;
            local.unhooked_begin_ticks = ring::ticks();
        }
        return;
    }
    if (local.unhooked_begin_ticks == 0 || local.unhooked_correlation != data.correlationId) return;
    const std::uint64_t begin_ticks = local.unhooked_begin_ticks;
    local.unhooked_begin_ticks = 0;
    if (state == nullptr) state = enter_recording(false);  // a call that a hook let pass is counted by the hook
    const Watched* call = call_of(callback);
    if (state != nullptr && call != nullptr) write_unhooked(*state, *call, data, begin_ticks);
}

constexpr OurCallback kCallback{driver_called, wants, CUPTI_DRIVER_TRACE_CBID_SIZE};

}  // namespace

CUptiResult subscribe(const CuptiApi& api) noexcept {
    return begin_our_callbacks(api, kCallback);
}

void unsubscribe(const CuptiApi& api) noexcept {
    end_our_callbacks(api);
}

}  // namespace gpuspy::hook

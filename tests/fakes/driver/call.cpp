#include "tests/fakes/driver/call.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sim {
namespace {

// What a driver answers in any state.
constexpr std::array<std::string_view, 6> kAlwaysAllowed = {
    "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString", "cuGetExportTable", "cuGetProcAddress", "cuInit",
};

std::atomic<const Tracer*> installed{nullptr};
std::atomic<std::uint32_t> correlations{0};
thread_local CallFrame* current_frame = nullptr;

bool corrupts_context(CUresult result) {
    switch (result) {
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_TIMEOUT:
        case CUDA_ERROR_ASSERT:
        case CUDA_ERROR_HARDWARE_STACK_ERROR:
        case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        case CUDA_ERROR_MISALIGNED_ADDRESS:
        case CUDA_ERROR_INVALID_ADDRESS_SPACE:
        case CUDA_ERROR_INVALID_PC:
        case CUDA_ERROR_LAUNCH_FAILED:
            return true;
        default:
            return false;
    }
}

}  // namespace

EntryPoint*& entry_points() {
    static EntryPoint* first = nullptr;
    return first;
}

EntryPoint::EntryPoint(const char* base_name, const char* symbol_name, int since, Binding bound, void* pointer,
                       std::uint32_t callback)
    : base(base_name),
      symbol(symbol_name),
      version(since),
      binding(bound),
      function(pointer),
      cbid(callback),
      always_allowed(std::find(kAlwaysAllowed.begin(), kAlwaysAllowed.end(), std::string_view(base_name)) !=
                     kAlwaysAllowed.end()),
      injection(symbol_name),
      next(entry_points()) {
    entry_points() = this;
}

const Tracer* tracer() {
    return installed.load(std::memory_order_acquire);
}

CUstreamCaptureMode& capture_interaction_mode() {
    thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return mode;
}

const char* launched_name(CUfunction function) {
    if (function == nullptr || tracer() == nullptr) {
        return nullptr;
    }
    const Lock lock(driver().mutex);
    return driver().functions.contains(function) ? function->name : nullptr;
}

CallFrame* CallFrame::current() {
    return current_frame;
}

CallFrame::CallFrame(EntryPoint& entry, const void* params, const char* kernel_name)
    : entry_(entry),
      params_(params),
      kernel_name_(kernel_name),
      outer_(current_frame),
      outer_default_(default_stream()) {
    current_frame = this;
    default_stream() = entry.binding == Binding::kPerThread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
    const Tracer* now = tracer();
    if (now != nullptr && entry.cbid != 0 && now->wants_call(entry.cbid)) {
        tracer_ = now;
        tell(true, nullptr);
    }
}

CallFrame::~CallFrame() {
    current_frame = outer_;
    default_stream() = outer_default_;
}

void CallFrame::tell(bool enter, CUresult* result) {
    CUcontext context = current_context();
    tracer_->call(ApiCall{entry_.cbid, entry_.symbol, kernel_name_, params_, context,
                          context != nullptr ? context->id : 0, correlation(), &correlation_data_, result, enter});
}

CUresult CallFrame::admit() {
    if (!entry_.always_allowed) {
        if (driver().forked || !driver().initialised) {
            return CUDA_ERROR_NOT_INITIALIZED;
        }
        if (driver().sticky != CUDA_SUCCESS) {
            return driver().sticky;
        }
    }
    const auto injected = static_cast<CUresult>(entry_.injection.next());
    if (corrupts_context(injected)) {
        driver().sticky = injected;
    }
    return injected;
}

CUresult CallFrame::finish(CUresult result) {
    if (tracer_ != nullptr) {
        tell(false, &result);
    }
    return result;
}

std::uint32_t CallFrame::correlation() {
    if (correlation_ == 0) {
        correlation_ = correlations.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return correlation_;
}

}  // namespace sim

extern "C" bool sim_set_tracer(const sim::Tracer* tracer) {
    const sim::Tracer* other = sim::installed.load(std::memory_order_acquire);
    if (tracer != nullptr && other != nullptr && other != tracer) {
        return false;  // Another copy of CUPTI is attached.
    }
    sim::installed.store(tracer, std::memory_order_release);
    return true;
}

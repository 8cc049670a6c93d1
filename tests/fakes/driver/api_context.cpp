// Contexts.
#include <algorithm>

#include "tests/fakes/driver/call.hpp"
#include "tests/fakes/driver/clock.hpp"
#include "tests/fakes/driver/work.hpp"

using sim::driver;
using sim::Lock;

namespace {

bool is_context(CUcontext context) {
    const auto& all = driver().contexts;
    const auto& primary = driver().primary;
    return std::any_of(all.begin(), all.end(), [context](const auto& other) { return other.get() == context; }) ||
           std::any_of(primary.begin(), primary.end(),
                       [context](const auto& entry) { return entry.second.get() == context; });
}

CUresult create(CUcontext* context, unsigned flags, CUdevice device) {
    const Lock lock(driver().mutex);
    if (device < 0 || device >= driver().device_count) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    driver().contexts.push_back(sim::make_context(device, flags));
    *context = driver().contexts.back().get();
    sim::context_stack().push_back(*context);
    return CUDA_SUCCESS;
}

CUresult synchronize(CUcontext context) {
    std::uint64_t until = 0;
    {
        const Lock lock(driver().mutex);
        if (context == nullptr) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        if (sim::unsafe_in_capture()) {
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        until = sim::context_completion_ns(*context);
    }
    sim::wait_until_ns(until);
    return CUDA_SUCCESS;
}

CUresult destroy(CUcontext context) {
    const Lock lock(driver().mutex);
    auto& stack = sim::context_stack();
    stack.erase(std::remove(stack.begin(), stack.end(), context), stack.end());
    const auto removed =
        std::erase_if(driver().contexts, [context](const auto& other) { return other.get() == context; });
    return removed == 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

}  // namespace

SIM_API_V1(cuCtxCreate, 2000, (CUcontext*, unsigned, CUdevice));

SIM_API(cuCtxCreate, _v2, 3020, (CUcontext * context, unsigned flags, CUdevice device), (context, flags, device)) {
    return create(context, flags, device);
}

SIM_API(cuCtxCreate, _v3, 11040,
        (CUcontext * context, CUexecAffinityParam* affinities, int affinity_count, unsigned flags, CUdevice device),
        (context, affinities, affinity_count, flags, device)) {
    return affinity_count != 0 || affinities != nullptr ? CUDA_ERROR_NOT_SUPPORTED : create(context, flags, device);
}

SIM_API(cuCtxCreate, _v4, 12050, (CUcontext * context, CUctxCreateParams* settings, unsigned flags, CUdevice device),
        (context, settings, flags, device)) {
    return settings != nullptr ? CUDA_ERROR_NOT_SUPPORTED : create(context, flags, device);
}

SIM_API(cuCtxDestroy, , 2000, (CUcontext context), (context)) {
    return destroy(context);
}
SIM_API(cuCtxDestroy, _v2, 4000, (CUcontext context), (context)) {
    return destroy(context);
}

SIM_API(cuCtxGetCurrent, , 4000, (CUcontext * context), (context)) {
    *context = sim::current_context();
    return CUDA_SUCCESS;
}

SIM_API(cuCtxSetCurrent, , 4000, (CUcontext context), (context)) {
    const Lock lock(driver().mutex);
    if (context != nullptr && !is_context(context)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    auto& stack = sim::context_stack();
    if (!stack.empty()) {
        stack.pop_back();
    }
    if (context != nullptr) {
        stack.push_back(context);
    }
    return CUDA_SUCCESS;
}

SIM_API(cuCtxPushCurrent, _v2, 4000, (CUcontext context), (context)) {
    const Lock lock(driver().mutex);
    if (!is_context(context)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    sim::context_stack().push_back(context);
    return CUDA_SUCCESS;
}

SIM_API(cuCtxPopCurrent, _v2, 4000, (CUcontext * context), (context)) {
    if (sim::context_stack().empty()) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (context != nullptr) {
        *context = sim::context_stack().back();
    }
    sim::context_stack().pop_back();
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetDevice, , 2000, (CUdevice * device), (device)) {
    if (sim::current_context() == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *device = sim::current_context()->device;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetId, , 12000, (CUcontext context, unsigned long long* id), (context, id)) {
    CUcontext const asked = context != nullptr ? context : sim::current_context();
    if (asked == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *id = asked->id;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetFlags, , 7000, (unsigned* flags), (flags)) {
    if (sim::current_context() == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *flags = sim::current_context()->flags;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetApiVersion, , 3020, (CUcontext context, unsigned* version), (context, version)) {
    if (context == nullptr && sim::current_context() == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *version = 3020;
    return CUDA_SUCCESS;
}

SIM_API_NONE(cuCtxSynchronize, , 2000) {
    return synchronize(sim::current_context());
}

SIM_API(cuCtxSynchronize, _v2, 13000, (CUcontext context), (context)) {
    return synchronize(context != nullptr ? context : sim::current_context());
}

SIM_API(cuDevicePrimaryCtxRetain, , 7000, (CUcontext * context, CUdevice device), (context, device)) {
    const Lock lock(driver().mutex);
    if (device < 0 || device >= driver().device_count) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    auto& primary = driver().primary[device];
    if (!primary) {
        primary = sim::make_context(device, 0);
    }
    ++primary->retains;
    *context = primary.get();
    return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxRelease, _v2, 11000, (CUdevice device), (device)) {
    const Lock lock(driver().mutex);
    const auto found = driver().primary.find(device);
    if (found == driver().primary.end() || found->second->retains == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    --found->second->retains;
    return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxGetState, , 7000, (CUdevice device, unsigned* flags, int* active), (device, flags, active)) {
    const Lock lock(driver().mutex);
    const auto found = driver().primary.find(device);
    *active = found != driver().primary.end() && found->second->retains != 0 ? 1 : 0;
    *flags = found != driver().primary.end() ? found->second->flags : 0;
    return CUDA_SUCCESS;
}

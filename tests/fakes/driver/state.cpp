#include "tests/fakes/driver/state.hpp"

#include <pthread.h>
#include <unistd.h>
#include <algorithm>

#include "tests/fakes/common/environment.hpp"
#include "tests/fakes/driver/call.hpp"

namespace sim {
namespace {

Driver* make_driver() {
    auto* made = new Driver;
    made->device_count = static_cast<int>(std::clamp<std::uint64_t>(environment_number("SIM_DEVICES", 1), 1, 8));
    made->durations_ns["[memcpy]"] = environment_number("SIM_COPY_NS", 500);
    made->durations_ns["[memset]"] = environment_number("SIM_SET_NS", 250);
    made->durations_ns[""] = environment_number("SIM_KERNEL_NS", 1000);
    for (std::size_t index = 0; index < made->pools.size(); ++index) {
        made->pools[index].device = static_cast<CUdevice>(index);
    }
    pthread_atfork(nullptr, nullptr, [] { driver().forked = driver().initialised.load(); });
    return made;
}

}  // namespace

Driver& driver() {
    static Driver* const instance = make_driver();
    return *instance;
}

std::vector<CUcontext>& context_stack() {
    thread_local std::vector<CUcontext> stack;
    return stack;
}

CUcontext current_context() {
    return context_stack().empty() ? nullptr : context_stack().back();
}

CUstream& default_stream() {
    thread_local CUstream stream = CU_STREAM_LEGACY;
    return stream;
}

CUstream_st* find_stream(CUstream handle) {
    CUcontext context = current_context();
    if (handle == nullptr) {
        handle = default_stream();
    }
    if (handle == CU_STREAM_LEGACY) {
        return context == nullptr ? nullptr : context->legacy.get();
    }
    if (handle == CU_STREAM_PER_THREAD) {
        if (context == nullptr) {
            return nullptr;
        }
        auto& stream = context->per_thread[gettid()];
        if (!stream) {
            stream =
                std::make_unique<CUstream_st>(CUstream_st{context, driver().next_stream++, 0, 0, false, 0, {}, {}, {}});
        }
        return stream.get();
    }
    return driver().streams.contains(handle) ? handle : nullptr;
}

std::unique_ptr<CUctx_st> make_context(CUdevice device, unsigned flags) {
    auto context = std::make_unique<CUctx_st>();
    context->id = driver().next_context++;
    context->device = device;
    context->flags = flags;
    context->legacy =
        std::make_unique<CUstream_st>(CUstream_st{context.get(), kLegacyStreamId, 0, 0, true, 0, {}, {}, {}});
    return context;
}

const char* intern(const std::string& name) {
    auto& slot = driver().names[name];
    if (!slot) {
        slot = std::make_unique<std::string>(name);
    }
    return slot->c_str();
}

MemoryKind memory_kind(const void* pointer, CUdevice* device) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    auto after = driver().memory.upper_bound(address);
    if (after == driver().memory.begin()) {
        return MemoryKind::kPageable;
    }
    --after;
    if (address >= after->first + after->second.bytes) {
        return MemoryKind::kPageable;
    }
    if (device != nullptr) {
        *device = after->second.device;
    }
    return after->second.kind;
}

bool unsafe_in_capture() {
    if (capture_interaction_mode() == CU_STREAM_CAPTURE_MODE_RELAXED) {
        return false;
    }
    bool found = false;
    for (const auto& weak : driver().captures) {
        const auto capture = weak.lock();
        if (!capture || capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED) {
            continue;
        }
        const bool same_thread = capture->thread == gettid();
        const bool everywhere = capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                capture_interaction_mode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (same_thread || everywhere) {
            capture->valid = false;
            found = true;
        }
    }
    return found;
}

}  // namespace sim

extern "C" {

void sim_set_duration(const char* name, uint64_t ns) {
    const sim::Lock lock(sim::driver().mutex);
    sim::driver().durations_ns[name] = ns;
}

bool sim_has_context() {
    const sim::Lock lock(sim::driver().mutex);
    return sim::driver().next_context > 1;
}

std::uint32_t sim_context_id(CUcontext context) {
    CUcontext const asked = context != nullptr ? context : sim::current_context();
    return asked != nullptr ? asked->id : 0;
}

std::uint32_t sim_stream_id(CUstream stream) {
    const sim::Lock lock(sim::driver().mutex);
    const CUstream_st* found = sim::find_stream(stream);
    return found != nullptr ? found->id : 0;
}
}

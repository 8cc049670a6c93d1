#include "interpose/resolve/driver_api.hpp"

#include <atomic>
#include <initializer_list>

#include "interpose/lifecycle/memory.hpp"
#include "interpose/record/thread.hpp"
#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/originals.hpp"
#include "interpose/resolve/text.hpp"

namespace gpuspy::hook {
namespace {

constexpr DriverApi kNone{};
/// Never written again once it is here: a thread may be reading it.
constinit std::atomic<const DriverApi*> current{nullptr};

struct Query {
    bool by_name;
    DriverApi found;
};

/// From the first object that defines the driver's functions and, if asked for, has the driver's name: other tools define them too.
bool visit_driver(void* context, const elf::Object& object) noexcept {
    auto& query = *static_cast<Query*>(context);
    if (is_ours(object.dynamic) || elf::find_symbol(object, "cuDriverGetVersion") == nullptr) return false;
    if (query.by_name && !text::starts_with(elf::soname(object), "libcuda.so")) return false;
#define GPUSPY_FIND(member, symbol) \
    query.found.member = reinterpret_cast<decltype(query.found.member)>(elf::find_symbol(object, #symbol));
    GPUSPY_DRIVER_FUNCTIONS(GPUSPY_FIND)
#undef GPUSPY_FIND
    return true;
}

}  // namespace

const DriverApi& driver_api() noexcept {
    const DriverApi* known = current.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    for (bool by_name : {true, false}) {
        Query query{by_name, {}};
        if (!elf::for_each_object(visit_driver, &query)) continue;
        auto* made = static_cast<DriverApi*>(map_memory(sizeof(DriverApi)));
        if (made == nullptr) break;
        *made = query.found;
        // The loser's stays mapped, like one whose driver is gone: a page for each driver that a process opens.
        return current.compare_exchange_strong(known, made, std::memory_order_acq_rel) ? *made : *known;
    }
    return kNone;
}

void forget_unloaded_driver() noexcept {
    const DriverApi* known = current.load(std::memory_order_acquire);
    if (known == nullptr) return;
    const InsideGpuspy inside;
    if (elf::is_defined_at("cuDriverGetVersion", reinterpret_cast<void*>(known->driver_get_version))) return;
    current.compare_exchange_strong(known, nullptr, std::memory_order_relaxed);
}

int driver_version() noexcept {
    const InsideGpuspy inside;
    int version = 0;
    const auto get = driver_api().driver_get_version;
    return get != nullptr && get(&version) == CUDA_SUCCESS ? version : 0;
}

}  // namespace gpuspy::hook

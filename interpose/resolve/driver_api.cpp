#include "interpose/resolve/driver_api.hpp"

#include <atomic>
#include <initializer_list>

#include "interpose/record/thread.hpp"
#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/originals.hpp"
#include "interpose/resolve/text.hpp"

namespace gpuspy::hook {
namespace {

constinit DriverApi api{};
constinit std::atomic<bool> is_found{false};

/// Fills `api` from the first object that defines the driver's functions and, if asked for, has the driver's name: other tools
/// define them too. Threads that do so at once write the same values.
bool visit_driver(void* context, const elf::Object& object) noexcept {
    if (is_ours(object.dynamic) || elf::find_symbol(object, "cuDriverGetVersion") == nullptr) return false;
    if (*static_cast<const bool*>(context) && !text::starts_with(elf::soname(object), "libcuda.so")) return false;
#define GPUSPY_FIND(member, symbol) \
    api.member = reinterpret_cast<decltype(api.member)>(elf::find_symbol(object, #symbol));
    GPUSPY_DRIVER_FUNCTIONS(GPUSPY_FIND)
#undef GPUSPY_FIND
    return true;
}

}  // namespace

const DriverApi& driver_api() noexcept {
    if (is_found.load(std::memory_order_acquire)) return api;
    for (bool by_name : {true, false}) {
        if (!elf::for_each_object(visit_driver, &by_name)) continue;
        is_found.store(true, std::memory_order_release);
        break;
    }
    return api;
}

int driver_version() noexcept {
    const InsideGpuspy inside;
    int version = 0;
    const auto get = driver_api().driver_get_version;
    return get != nullptr && get(&version) == CUDA_SUCCESS ? version : 0;
}

}  // namespace gpuspy::hook

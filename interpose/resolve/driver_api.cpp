#include "interpose/resolve/driver_api.hpp"

#include <atomic>

#include "interpose/record/thread.hpp"
#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/originals.hpp"

namespace gpuspy::hook {
namespace {

constinit DriverApi api{};
constinit std::atomic<bool> is_found{false};

/// Fills `api` from the first object that defines the driver's functions. Threads that do so at once write the same values.
bool visit_driver(void*, const elf::Object& object) noexcept {
    if (is_ours(object.dynamic) || elf::find_symbol(object, "cuDriverGetVersion") == nullptr) return false;
#define GPUSPY_FIND(member, symbol) \
    api.member = reinterpret_cast<decltype(api.member)>(elf::find_symbol(object, #symbol));
    GPUSPY_DRIVER_FUNCTIONS(GPUSPY_FIND)
#undef GPUSPY_FIND
    return true;
}

}  // namespace

const DriverApi& driver_api() noexcept {
    if (!is_found.load(std::memory_order_acquire) && elf::for_each_object(visit_driver, nullptr)) {
        is_found.store(true, std::memory_order_release);
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

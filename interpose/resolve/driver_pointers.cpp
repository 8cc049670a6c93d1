#include "interpose/resolve/driver_pointers.hpp"

#include <atomic>

#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/record/thread.hpp"
#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/originals.hpp"
#include "interpose/resolve/text.hpp"

namespace gpuspy::hook {
namespace {

/// Addresses of the table's driver functions in one libcuda. Two names at one address (aliases) cannot be told apart: the first
/// one in the table stands for both.
struct DriverMap {
    elf::Object object;
    void* addresses[kHookCount];
};

constinit DriverMap driver_map{};
constinit std::atomic<bool> is_mapped{false};
constinit SpinLock map_lock;

/// The map of the library that the pointer lies in, made at the first one. False: the pointer lies in another library than
/// the first one's, or that defines no function of the table.
bool map_for(const void* pointer) noexcept {
    const Locked guard(map_lock);
    if (is_mapped.load(std::memory_order_relaxed)) return driver_map.object.covers(pointer);
    elf::Object object;
    if (!elf::find_object(pointer, &object)) return false;
    bool any = false;
    for (std::size_t i = 0; i < kDriverHookCount; ++i) {
        driver_map.addresses[i] = elf::find_symbol(object, kApiTable[i].name);
        any = any || driver_map.addresses[i] != nullptr;
    }
    if (!any) return false;
    driver_map.object = object;
    // Pairs with the acquire in hook_for_driver_pointer(): the map is whole.
    is_mapped.store(true, std::memory_order_release);
    return true;
}

/// Whether the exported function is a form of a hooked one that the table does not have: a driver newer than the table.
bool is_unknown_form(const char* name) noexcept {
    char base[sizeof abi::ApiEntry::name];
    std::size_t length = 0;
    for (; name[length] != 0 && length + 1 < sizeof base; ++length) base[length] = name[length];
    base[length] = 0;
    const auto ends_with = [&](const char* end, std::size_t bytes) {
        return length > bytes && text::equal(base + length - bytes, end);
    };
    if (ends_with("_ptsz", 5) || ends_with("_ptds", 5)) base[length -= 5] = 0;
    std::size_t digits = length;
    while (digits > 0 && base[digits - 1] >= '0' && base[digits - 1] <= '9') --digits;
    if (digits < length && digits > 2 && base[digits - 1] == 'v' && base[digits - 2] == '_') base[digits - 2] = 0;
    return find_hook(base) != HookId::kCount;
}

}  // namespace

void* hook_for_driver_pointer(void* pointer) noexcept {
    if (is_ours(pointer)) return pointer;
    const InsideGpuspy inside;
    if (!(is_mapped.load(std::memory_order_acquire) && driver_map.object.covers(pointer)) && !map_for(pointer)) {
        return pointer;
    }
    for (std::size_t i = 0; i < kDriverHookCount; ++i) {
        if (driver_map.addresses[i] == pointer) return bind_slot(static_cast<HookId>(i), pointer);
    }
    const char* name = elf::exported_name(driver_map.object, pointer);
    if (name == nullptr || is_unknown_form(name)) count_loss(abi::LossCause::kUnmappedPointer, 1);
    return pointer;
}

}  // namespace gpuspy::hook

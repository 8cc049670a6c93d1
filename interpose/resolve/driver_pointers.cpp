#include "interpose/resolve/driver_pointers.hpp"

#include <atomic>

#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/record/thread.hpp"
#include "interpose/resolve/driver_api.hpp"
#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/originals.hpp"
#include "interpose/resolve/text.hpp"

namespace gpuspy::hook {
namespace {

/// Addresses of the table's driver functions in one library: a libcuda, or a tool that stands in front of it. Two names at one
/// address (aliases) cannot be told apart: the first one in the table stands for both.
struct DriverMap {
    std::atomic<bool> is_there;  ///< Else its library is gone, and another's map may be made here.
    elf::Object object;
    void* addresses[kHookCount];
};

constexpr std::uint32_t kMaxMaps = 4;
constinit DriverMap maps[kMaxMaps]{};
constinit std::atomic<std::uint32_t> map_count{0};
constinit SetUpLock map_lock;

const DriverMap* find_map(const void* pointer) noexcept {
    const std::uint32_t count = map_count.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i) {
        if (maps[i].is_there.load(std::memory_order_acquire) && maps[i].object.covers(pointer)) return &maps[i];
    }
    return nullptr;
}

/// The map of the library that the pointer lies in, made at the first one. nullptr: the library defines no function of the
/// table, or there are too many.
const DriverMap* map_for(const void* pointer) noexcept {
    if (const DriverMap* known = find_map(pointer)) return known;
    elf::Object object;
    if (!elf::find_object(pointer, &object)) return nullptr;
    const Locked guard(map_lock);
    if (const DriverMap* known = find_map(pointer)) return known;
    const std::uint32_t count = map_count.load(std::memory_order_relaxed);
    std::uint32_t index = 0;
    while (index < count && maps[index].is_there.load(std::memory_order_relaxed)) ++index;
    if (index == kMaxMaps) return nullptr;
    DriverMap& made = maps[index];
    bool any = false;
    for (std::size_t i = 0; i < kDriverHookCount; ++i) {
        made.addresses[i] = elf::find_symbol(object, kApiTable[i].name);
        any = any || made.addresses[i] != nullptr;
    }
    if (!any) return nullptr;
    made.object = object;
    // Pairs with the acquire in find_map(): the map is whole.
    made.is_there.store(true, std::memory_order_release);
    if (index == count) map_count.store(count + 1, std::memory_order_release);
    return &made;
}

/// The hook whose function lies at the address; kCount: none.
HookId hook_at(const DriverMap* map, const void* pointer) noexcept {
    for (std::size_t i = 0; map != nullptr && i < kDriverHookCount; ++i) {
        if (map->addresses[i] == pointer) return static_cast<HookId>(i);
    }
    return HookId::kCount;
}

/// The driver's own answer; nullptr: none.
void* ask_driver(const DriverQuestion& question) noexcept {
    const DriverApi& api = driver_api();
    void* pointer = nullptr;
    const int version = question.version != 0 ? question.version : driver_version();
    if (api.get_proc_address_v2 != nullptr) {
        api.get_proc_address_v2(question.name, &pointer, version, question.flags, nullptr);
    } else if (api.get_proc_address != nullptr) {
        api.get_proc_address(question.name, &pointer, version, question.flags);
    }
    return pointer;
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

void forget_unloaded_driver_pointers() noexcept {
    const std::uint32_t count = map_count.load(std::memory_order_acquire);
    if (count == 0) return;
    const InsideGpuspy inside;
    for (std::uint32_t i = 0; i < count; ++i) {
        DriverMap& map = maps[i];
        if (!map.is_there.load(std::memory_order_acquire)) continue;
        std::size_t known = 0;
        while (map.addresses[known] == nullptr) ++known;  // There is one, or there would be no map.
        if (elf::is_defined_at(kApiTable[known].name, map.addresses[known])) continue;
        map.is_there.store(false, std::memory_order_release);
    }
}

void* hook_for_driver_pointer(void* pointer, const DriverQuestion& question) noexcept {
    if (is_ours(pointer)) return pointer;
    const InsideGpuspy inside;
    HookId id = hook_at(map_for(pointer), pointer);
    if (id != HookId::kCount) return bind_slot(id, pointer);
    elf::Object object;
    const bool is_known = elf::find_object(pointer, &object);
    if (is_known && text::starts_with(elf::soname(object), "libcuda.so")) {
        // Most of the driver's functions are in no line of the table.
        const char* name = elf::exported_name(object, pointer);
        if (name == nullptr || is_unknown_form(name)) count_loss(abi::LossCause::kUnmappedPointer, 1);
        return pointer;
    }
    // Another tool's function, which it gave for one of the driver's: for which one, the driver itself knows.
    const void* in_driver = ask_driver(question);
    id = hook_at(in_driver != nullptr ? map_for(in_driver) : nullptr, in_driver);
    return id != HookId::kCount ? bind_slot(id, pointer) : pointer;
}

}  // namespace gpuspy::hook

// The real functions behind the hooks.
//
// A hook may stand in front of several originals: two copies of cudart in one process, or libcudnn.so.9, which looks up its
// own public names in its sub-libraries. A pointer that is handed out is bound to one original: slot i of a hook is
// wrapper i, and originals[hook][i] is what it calls. A call that the dynamic linker bound to us carries no such
// knowledge: its original is found from the object that calls (its return address), once per object, and cached.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/resolve/elf.hpp"
#include "interpose/table/hooks.hpp"

namespace gpuspy::hook {

/// Originals of handed-out pointers. Written under the set-up lock before the wrapper is handed out.
extern std::atomic<void*> slot_originals[kHookCount][kSlotCount];

/// What the exported symbols of the typed rows jump to, in their order.
extern "C" void* const gpuspy_elf_wrappers[];

/// What a host gets instead of an original.
void* slot_wrapper(HookId id, std::size_t slot) noexcept;

/// A wrapper bound to `original`: the slot that has it, else a free one. `original` itself when no slot is free (counted).
void* bind_slot(HookId id, void* original) noexcept;

/// Callers in [begin, end) are bound to `original`.
struct Route {
    std::uintptr_t begin;
    std::uintptr_t end;
    void* original;
};

/// Grows by doubling; an outgrown array stays mapped, since a thread may be reading it.
struct Routes {
    std::atomic<Route*> routes;
    std::atomic<std::uint32_t> count;
    std::uint32_t capacity;
};

extern Routes elf_routes[kHookCount];
/// Counts how often all routes were forgotten: the places of forgotten ones are written anew while threads may be reading them.
extern std::atomic<std::uint32_t> routes_epoch;

/// nullptr: the route is not the caller's, or was forgotten since `epoch`.
inline void* original_of_route(const Route& route, const void* caller, std::uint32_t epoch) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    if (at < __atomic_load_n(&route.begin, __ATOMIC_RELAXED) || at >= __atomic_load_n(&route.end, __ATOMIC_RELAXED)) {
        return nullptr;
    }
    void* original = __atomic_load_n(&route.original, __ATOMIC_RELAXED);
    // Pairs with the fence in forget_unloaded_objects(): who read a place that was written anew sees another epoch.
    std::atomic_thread_fence(std::memory_order_acquire);
    return routes_epoch.load(std::memory_order_relaxed) == epoch ? original : nullptr;
}

/// Among all routes; looked up when there is none yet.
void* find_route(HookId id, const void* caller) noexcept;

/// Original for a call to the exported hook from `caller` (a return address): what the dynamic linker would have bound in
/// the calling object without us. nullptr: nothing in the process provides it. Most hooks have one caller.
inline void* original_for_caller(HookId id, const void* caller) noexcept {
    const Routes& routes = elf_routes[index_of(id)];
    const std::uint32_t epoch = routes_epoch.load(std::memory_order_acquire);
    if (routes.count.load(std::memory_order_acquire) != 0) [[likely]] {
        if (void* original = original_of_route(*routes.routes.load(std::memory_order_acquire), caller, epoch)) {
            return original;
        }
    }
    return find_route(id, caller);
}

/// The function `name` that a call from `caller` (nullptr: no object) would reach without us; nullptr: nothing provides it.
void* find_provider(const char* name, const elf::Object* caller) noexcept;

/// The host unloads an object: another may come to lie at its addresses, so every caller is looked up again.
void forget_unloaded_objects() noexcept;

/// After an unload: slots whose original lies in no object any more can stand in front of another one. A host that still
/// called its pointer would call into nothing without us, too. Not slots whose original never lay in an object of our namespace:
/// of those the loader tells us nothing.
void free_unloaded_slots() noexcept;

/// Whether the address is code or data of ours.
bool is_ours(const void* address) noexcept;

}  // namespace gpuspy::hook

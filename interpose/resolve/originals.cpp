#include "interpose/resolve/originals.hpp"

#include "collector/ring/owned_fd.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/memory.hpp"
#include "interpose/lifecycle/session.hpp"
#include "interpose/resolve/bypass.hpp"
#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/real_dl.hpp"
#include "interpose/resolve/text.hpp"

extern "C" {
// From the linker: our own first and last byte.
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));
}

namespace gpuspy::hook {

constinit std::atomic<void*> slot_originals[kHookCount][kSlotCount]{};
constinit Routes elf_routes[kHookCount]{};
constinit std::atomic<std::uint32_t> routes_epoch{0};

namespace {

constinit std::atomic<bool> has_routes{false};
constinit SetUpLock bind_lock;

/// The objects that define a name.
struct Candidates {
    const char* name;
    const elf::Object* caller;
    std::uint32_t count;
    struct {
        elf::Object object;
        void* address;
        bool is_unversioned;
    } found[16];
    void* near;  ///< Among the caller's own definitions, and those of what it was linked with.
};

bool add_candidate(void* context, const elf::Object& object) noexcept {
    auto* candidates = static_cast<Candidates*>(context);
    if (object.covers(&__ehdr_start)) return false;
    void* address = elf::find_symbol(object, candidates->name);
    if (address == nullptr) return false;
    candidates->found[candidates->count] = {object, address, elf::is_unversioned(object, candidates->name)};
    ++candidates->count;
    return candidates->count == sizeof candidates->found / sizeof *candidates->found;
}

constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// The candidate that the address belongs to, or kNone.
std::uint32_t among(const Candidates& candidates, const void* address) noexcept {
    for (std::uint32_t i = 0; address != nullptr && i < candidates.count; ++i) {
        if (candidates.found[i].address == address) return i;
    }
    return kNone;
}

/// Under bind_lock.
struct SlotUse {
    std::uint32_t handed_out;  ///< How often.
    bool is_in_object;         ///< Else its original may be gone or not, which the loader does not tell us.
};
constinit SlotUse slot_uses[kHookCount][kSlotCount]{};
constinit std::atomic<bool> has_slots{false};

struct NeededQuery {
    const Candidates* candidates;
    void* answer;
};

bool match_needed(void* context, const char* needed) noexcept {
    auto* query = static_cast<NeededQuery*>(context);
    for (std::uint32_t i = 0; i < query->candidates->count; ++i) {
        if (text::equal(elf::soname(query->candidates->found[i].object), needed)) {
            query->answer = query->candidates->found[i].address;
            return true;
        }
    }
    return false;
}

void* choose_near(const Candidates& candidates) noexcept {
    for (std::uint32_t i = 0; i < candidates.count; ++i) {
        if (candidates.found[i].object.base == candidates.caller->base) return candidates.found[i].address;
    }
    NeededQuery query{&candidates, nullptr};
    return elf::for_each_needed(*candidates.caller, match_needed, &query) ? query.answer : nullptr;
}

/// With the objects held: one that the caller does not need may be unloaded by another thread as soon as they are not.
void find_candidates(void* context) noexcept {
    auto& candidates = *static_cast<Candidates*>(context);
    elf::for_each_object(add_candidate, &candidates);
    if (candidates.count > 1 && candidates.caller != nullptr) candidates.near = choose_near(candidates);
}

/// What the loader would bind in the caller: the global scope first, then what the caller itself was linked with (the other way
/// round with RTLD_DEEPBIND). Its order is asked for only when there is a choice, since a failed look-up would leave the host a
/// dlerror; and not with the objects held, since it takes the loader's other lock first.
void* choose(const Candidates& candidates) noexcept {
    const elf::Object* caller = candidates.caller;
    if (candidates.count <= 1) return candidates.count == 0 ? nullptr : candidates.found[0].address;
    if (candidates.near != nullptr && is_bound_past_us(*caller)) return candidates.near;
    // A preloaded library that comes next defines its names without a version, and stands for each.
    void* next = real_next(candidates.name, nullptr);
    std::uint32_t provider = among(candidates, next);
    const char* version = caller != nullptr ? elf::needed_version(*caller, candidates.name) : nullptr;
    if (version != nullptr && (provider == kNone || !candidates.found[provider].is_unversioned)) {
        next = real_next(candidates.name, version);
        provider = among(candidates, next);
    }
    if (provider != kNone) return next;
    real_dl().dlerror();  // ours, not the host's
    return candidates.near != nullptr ? candidates.near : candidates.found[0].address;
}

/// Under bind_lock. Without memory the route is looked up again at each call: slow, not wrong.
void add_route(Routes& into, const Route& route) noexcept {
    const std::uint32_t count = into.count.load(std::memory_order_relaxed);
    if (count == into.capacity) {
        const std::uint32_t capacity = into.capacity == 0 ? 128 : into.capacity * 2;  // a page at first
        auto* grown = static_cast<Route*>(map_memory(capacity * sizeof(Route)));
        if (grown == nullptr) return;
        const Route* old = into.routes.load(std::memory_order_relaxed);
        for (std::uint32_t i = 0; i < count; ++i) grown[i] = old[i];
        into.routes.store(grown, std::memory_order_release);
        into.capacity = capacity;
    }
    Route& place = into.routes.load(std::memory_order_relaxed)[count];
    __atomic_store_n(&place.begin, route.begin, __ATOMIC_RELAXED);
    __atomic_store_n(&place.end, route.end, __ATOMIC_RELAXED);
    __atomic_store_n(&place.original, route.original, __ATOMIC_RELAXED);
    // Pairs with the acquire in original_for_caller() and find_route(): the route, and the array that holds it, are seen when it is counted.
    into.count.store(count + 1, std::memory_order_release);
    has_routes.store(true, std::memory_order_relaxed);
}

void* resolve(HookId id, const void* caller) noexcept {
    const ring::ErrnoGuard keep_errno;
    const SignalsHeld no_signals;
    const InsideGpuspy inside;
    elf::Object object;
    const bool known = elf::find_object(caller, &object);
    void* original = find_provider(kApiTable[index_of(id)].name, known ? &object : nullptr);
    if (original == nullptr) return nullptr;

    // A caller in no object is code made at run time: its page stands for it.
    constexpr std::uintptr_t kPageMask = 4095;
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    const std::uintptr_t begin = known ? object.begin : at & ~kPageMask;
    const std::uintptr_t end = known ? object.end : begin + kPageMask + 1;
    const Locked guard(bind_lock);
    add_route(elf_routes[index_of(id)], {begin, end, original});
    return original;
}

}  // namespace

void* find_provider(const char* name, const elf::Object* caller) noexcept {
    Candidates candidates{name, caller, 0, {}, nullptr};
    elf::with_objects_held(find_candidates, &candidates);
    return choose(candidates);
}

void* find_route(HookId id, const void* caller) noexcept {
    const Routes& routes = elf_routes[index_of(id)];
    const std::uint32_t epoch = routes_epoch.load(std::memory_order_acquire);
    const std::uint32_t count = routes.count.load(std::memory_order_acquire);
    const Route* known = routes.routes.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i) {
        if (void* original = original_of_route(known[i], caller, epoch)) return original;
    }
    return resolve(id, caller);
}

void* bind_slot(HookId id, void* original) noexcept {
    if (is_ours(original)) return original;
    elf::Object object;
    const bool is_in_object = elf::find_object(original, &object);  // The loader is asked without the lock.
    const Locked guard(bind_lock);
    auto& originals = slot_originals[index_of(id)];
    for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
        void* bound = originals[slot].load(std::memory_order_relaxed);
        if (bound == nullptr) originals[slot].store(original, std::memory_order_release);
        if (bound == nullptr || bound == original) {
            SlotUse& use = slot_uses[index_of(id)][slot];
            ++use.handed_out;
            use.is_in_object = is_in_object;
            has_slots.store(true, std::memory_order_relaxed);
            return slot_wrapper(id, slot);
        }
    }
    count_loss(abi::LossCause::kNoSlot, 1);
    return original;
}

void forget_unloaded_objects() noexcept {
    const InsideGpuspy inside;
    if (has_routes.exchange(false, std::memory_order_relaxed)) {
        const Locked guard(bind_lock);
        routes_epoch.fetch_add(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        for (Routes& routes : elf_routes) routes.count.store(0, std::memory_order_release);
    }
}

void free_unloaded_slots() noexcept {
    if (!has_slots.load(std::memory_order_relaxed)) return;
    const InsideGpuspy inside;
    elf::Object object;
    for (std::size_t hook = 0; hook < kHookCount; ++hook) {
        for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
            std::atomic<void*>& place = slot_originals[hook][slot];
            void* original = place.load(std::memory_order_relaxed);
            // Most originals lie in the object of the one before.
            if (original == nullptr || object.covers(original)) continue;
            std::uint32_t handed_out = 0;
            {
                const Locked guard(bind_lock);
                if (!slot_uses[hook][slot].is_in_object) continue;
                handed_out = slot_uses[hook][slot].handed_out;
            }
            if (elf::find_object(original, &object)) continue;
            const Locked guard(bind_lock);
            // Handed out again meanwhile: another object has come to lie there.
            if (slot_uses[hook][slot].handed_out != handed_out) continue;
            place.compare_exchange_strong(original, nullptr, std::memory_order_relaxed);
        }
    }
}

bool is_ours(const void* address) noexcept {
    return address >= static_cast<const void*>(&__ehdr_start) && address < static_cast<const void*>(&_end);
}

}  // namespace gpuspy::hook

#include "interpose/resolve/dlsym.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdio>

#include "interpose/lifecycle/session.hpp"
#include "interpose/record/thread.hpp"
#include "interpose/resolve/bypass.hpp"
#include "interpose/resolve/driver_api.hpp"
#include "interpose/resolve/driver_pointers.hpp"
#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/originals.hpp"
#include "interpose/resolve/real_dl.hpp"
#include "interpose/resolve/scope.hpp"
#include "interpose/resolve/text.hpp"
#include "interpose/resolve/tools.hpp"
#include "interpose/table/hooks.hpp"

namespace gpuspy::hook {
namespace {

/// The object after `caller` in load order that defines the name, ours left out.
struct NextQuery {
    const elf::Object* caller;
    const char* name;
    bool is_past;
    void* address;
    elf::Object provider;
    bool passed_us;  ///< We come before the caller: its RTLD_NEXT cannot lead to us.
};

bool visit_next(void* context, const elf::Object& object) noexcept {
    auto* query = static_cast<NextQuery*>(context);
    if (!query->is_past && is_ours(object.dynamic)) query->passed_us = true;
    if (object.base == query->caller->base && object.dynamic == query->caller->dynamic) {
        query->is_past = true;
        return false;
    }
    if (!query->is_past || is_ours(object.dynamic)) return false;
    query->address = elf::find_symbol(object, query->name);
    query->provider = object;
    return query->address != nullptr;
}

constexpr std::size_t kMessageBytes = 512;
constexpr unsigned kMessageCount = 4;
char messages[kMessageCount][kMessageBytes];
std::atomic<unsigned> next_message{0};

/// "not found", with the loader's own message pending for dlerror (its prefix is put right there).
LookupDecision not_found(const char* name) noexcept {
    return {real_dl().dlsym(RTLD_NEXT, name), nullptr};
}

/// A look-up of one of our names by a special handle, or whose answer was our own export: what stands behind it?
LookupDecision look_behind(HookId id, void* handle, const elf::Object* caller) noexcept {
    const char* name = kApiTable[index_of(id)].name;
    void* original = nullptr;
    if (handle == RTLD_NEXT && caller != nullptr) {
        NextQuery query{caller, name, false, nullptr, {}, false};
        elf::for_each_object(visit_next, &query);
        original = query.address;
        // Later in load order, but opened with a scope of its own: the caller cannot see it.
        if (original != nullptr && real_next(name, nullptr) != original) {
            real_dl().dlerror();  // ours, not the host's
            if (!share_scope(*caller, query.provider)) original = nullptr;
        }
        // Nothing for us to stand in front of: the loader answers its real caller.
        if (original == nullptr && query.passed_us) return {nullptr, reinterpret_cast<void*>(real_dl().dlsym)};
    } else {
        original = find_in_scope(name, handle == RTLD_DEFAULT ? caller : nullptr);
    }
    if (original == nullptr) return not_found(name);
    return {caller != nullptr && is_tool(*caller) ? original : bind_slot(id, original), nullptr};
}

/// Whether the object was loaded after us: what RTLD_NEXT means to it cannot be us.
bool comes_after_us(const elf::Object& caller) noexcept {
    NextQuery query{&caller, "", false, nullptr, {}, false};
    elf::for_each_object(visit_next, &query);
    return query.passed_us;
}

/// A preloaded library before us that looks up the next dlsym by a version: ours has none, so the loader would pass us over.
void* next_look_up(const char* name, const elf::Object& caller) noexcept {
    elf::Object ours;
    if (comes_after_us(caller) || !elf::find_object(reinterpret_cast<const void*>(&gpuspy_decide_dlsym), &ours)) {
        return nullptr;
    }
    return elf::find_symbol(ours, name);
}

bool is_look_up(const char* name) noexcept {
    return name != nullptr && (text::equal(name, "dlsym") || text::equal(name, "dlvsym"));
}

bool is_special(const void* handle) noexcept {
    return handle == RTLD_DEFAULT || handle == RTLD_NEXT;
}

/// A host that opens a library looks its functions up next: the last moment before it can be called. Not for special handles: a
/// sanitizer's runtime uses them when the C library cannot be called yet.
void look_at_new_libraries(const void* handle) noexcept {
    if (!is_special(handle) && !thread_local_state.inside_gpuspy) lead_back();
}

}  // namespace

extern "C" LookupDecision gpuspy_decide_dlsym(void* handle, const char* name, const void* caller_address) noexcept {
    const RealDl& real = real_dl();
    look_at_new_libraries(handle);
    const HookId id = name != nullptr && !thread_local_state.inside_gpuspy ? find_hook(name) : HookId::kCount;
    if (id == HookId::kCount) return {nullptr, reinterpret_cast<void*>(real.dlsym)};
    const InsideGpuspy inside;
    elf::Object caller;
    const bool known = elf::find_object(caller_address, &caller);
    if (is_special(handle)) return look_behind(id, handle, known ? &caller : nullptr);
    void* answer = real.dlsym(handle, name);
    if (answer == nullptr) return {nullptr, nullptr};
    if (is_ours(answer)) return look_behind(id, handle, known ? &caller : nullptr);
    return {known && is_tool(caller) ? answer : bind_slot(id, answer), nullptr};
}

extern "C" LookupDecision gpuspy_decide_dlvsym(void* handle, const char* name, const char* version,
                                               const void* caller_address) noexcept {
    const RealDl& real = real_dl();
    if (handle == RTLD_NEXT && is_look_up(name) && !thread_local_state.inside_gpuspy) {
        const InsideGpuspy inside;
        elf::Object before;
        void* ours = elf::find_object(caller_address, &before) ? next_look_up(name, before) : nullptr;
        return {ours, ours == nullptr ? reinterpret_cast<void*>(real.dlvsym) : nullptr};
    }
    look_at_new_libraries(handle);
    const HookId id = name != nullptr && !thread_local_state.inside_gpuspy ? find_hook(name) : HookId::kCount;
    if (id == HookId::kCount) return {nullptr, reinterpret_cast<void*>(real.dlvsym)};
    const InsideGpuspy inside;
    elf::Object caller;
    const bool known = elf::find_object(caller_address, &caller);
    if (handle == RTLD_NEXT && known && comes_after_us(caller)) return {nullptr, reinterpret_cast<void*>(real.dlvsym)};
    // Our names have no version, so the loader passes us over.
    void* answer = real.dlvsym(handle, name, version);
    // Not in the global scope: the caller may have been opened with a scope of its own, which the loader knows.
    if (answer == nullptr) return {nullptr, is_special(handle) ? reinterpret_cast<void*>(real.dlvsym) : nullptr};
    if (is_ours(answer)) return look_behind(id, RTLD_DEFAULT, known ? &caller : nullptr);
    return {known && is_tool(caller) ? answer : bind_slot(id, answer), nullptr};
}

extern "C" int gpuspy_dlclose(void* handle) noexcept {
    // Whose calls were made is told by where it lies: that must be in the trace before something else can come to lie there.
    save_objects();
    // Before, so that destructors that run inside are looked up anew; after, for what they looked up.
    forget_unloaded_objects();
    const int result = real_dl().dlclose(handle);
    forget_unloaded_objects();
    free_unloaded_slots();
    forget_unloaded_driver();
    forget_unloaded_driver_pointers();
    return result;
}

extern "C" char* gpuspy_dlerror() noexcept {
    char* message = real_dl().dlerror();
    if (message == nullptr) return nullptr;
    // A look-up that we made for the host names us as the object that asked; without us it would have named the program.
    constexpr char kOurs[] = "libgpuspy.so: undefined symbol: ";
    const char* at = text::find(message, kOurs);
    if (at == nullptr) return message;
    char* rewritten = messages[next_message.fetch_add(1, std::memory_order_relaxed) % kMessageCount];
    snprintf(rewritten, kMessageBytes, "%s: undefined symbol: %s", program_invocation_name, at + sizeof kOurs - 1);
    return rewritten;
}

}  // namespace gpuspy::hook

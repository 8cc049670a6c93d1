#include "interpose/resolve/scope.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include "interpose/lifecycle/memory.hpp"
#include "interpose/resolve/originals.hpp"
#include "interpose/resolve/real_dl.hpp"
#include "interpose/resolve/text.hpp"

namespace gpuspy::hook {
namespace {

constexpr std::uint32_t kMaxObjects = 2048;

/// The loaded objects and which of them need, over any number of steps, one of two.
struct Needs {
    elf::Object objects[kMaxObjects];
    const char* sonames[kMaxObjects];
    std::uint32_t count;
    std::uint32_t queue[kMaxObjects];
    bool needs[2][kMaxObjects];
};

bool collect(void* context, const elf::Object& object) noexcept {
    auto& needs = *static_cast<Needs*>(context);
    if (needs.count == kMaxObjects) return true;
    needs.sonames[needs.count] = elf::soname(object);
    needs.objects[needs.count++] = object;
    return false;
}

bool is_soname(void* context, const char* needed) noexcept {
    return text::equal(static_cast<const char*>(context), needed);
}

/// Marks what needs `wanted`, which needs itself.
void mark(Needs& needs, const elf::Object& wanted, bool (&marks)[kMaxObjects]) noexcept {
    std::uint32_t queued = 0;
    for (std::uint32_t i = 0; i < needs.count; ++i) {
        marks[i] = needs.objects[i].dynamic == wanted.dynamic;
        if (marks[i]) needs.queue[queued++] = i;
    }
    for (std::uint32_t at = 0; at < queued; ++at) {
        char* soname = const_cast<char*>(needs.sonames[needs.queue[at]]);
        for (std::uint32_t i = 0; i < needs.count; ++i) {
            if (marks[i] || !elf::for_each_needed(needs.objects[i], is_soname, soname)) continue;
            marks[i] = true;
            needs.queue[queued++] = i;
        }
    }
}

bool any_in_both(const Needs& needs) noexcept {
    for (std::uint32_t i = 0; i < needs.count; ++i) {
        if (needs.needs[0][i] && needs.needs[1][i]) return true;
    }
    return false;
}

struct Question {
    const char* name;
    const elf::Object* caller;
    const elf::Object* other;  ///< nullptr: any object that defines the name.
    void* address;
    bool is_shared;
};

void answer(void* context) noexcept {
    auto& question = *static_cast<Question*>(context);
    auto* needs = static_cast<Needs*>(map_memory(sizeof(Needs)));
    if (needs == nullptr) return;
    elf::for_each_object(collect, needs);
    mark(*needs, *question.caller, needs->needs[0]);
    for (std::uint32_t i = 0; i < needs->count && !question.is_shared; ++i) {
        const elf::Object& object = needs->objects[i];
        if (question.other != nullptr ? object.dynamic != question.other->dynamic : is_ours(object.dynamic)) continue;
        void* address = question.other != nullptr ? nullptr : elf::find_symbol(object, question.name);
        if (question.other == nullptr && address == nullptr) continue;
        mark(*needs, object, needs->needs[1]);
        question.is_shared = any_in_both(*needs);
        if (question.is_shared) question.address = address;
    }
    munmap(needs, sizeof(Needs));
}

bool defines(void* context, const elf::Object& object) noexcept {
    return !is_ours(object.dynamic) && elf::find_symbol(object, static_cast<const char*>(context)) != nullptr;
}

}  // namespace

bool share_scope(const elf::Object& first, const elf::Object& second) noexcept {
    Question question{nullptr, &first, &second, nullptr, false};
    elf::with_objects_held(answer, &question);
    return question.is_shared;
}

void* find_in_scope(const char* name, const elf::Object* caller) noexcept {
    // Most processes that ask have none at all: then the loader must not be asked, since its answer is an error message.
    if (!elf::for_each_object(defines, const_cast<char*>(name))) return nullptr;
    // The program, and what is preloaded before us, come first.
    if (void* global = real_dl().dlsym(RTLD_DEFAULT, name); global != nullptr && !is_ours(global)) return global;
    if (void* global = real_next(name, nullptr)) return global;
    real_dl().dlerror();  // ours, not the host's
    if (caller == nullptr) return nullptr;
    Question question{name, caller, nullptr, nullptr, false};
    elf::with_objects_held(answer, &question);
    return question.address;
}

}  // namespace gpuspy::hook

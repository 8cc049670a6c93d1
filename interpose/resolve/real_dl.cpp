#include "interpose/resolve/real_dl.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>

#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/originals.hpp"

namespace gpuspy::hook {
namespace {

// Filled by whoever comes first; two threads would write the same values.
constinit RealDl found{};
constinit std::atomic<bool> is_found{false};

void take(const elf::Object& object) noexcept {
    const auto find = [&object](const char* name) { return elf::find_symbol(object, name); };
    if (found.dlsym == nullptr) found.dlsym = reinterpret_cast<decltype(RealDl::dlsym)>(find("dlsym"));
    if (found.dlvsym == nullptr) found.dlvsym = reinterpret_cast<decltype(RealDl::dlvsym)>(find("dlvsym"));
    if (found.dlerror == nullptr) found.dlerror = reinterpret_cast<decltype(RealDl::dlerror)>(find("dlerror"));
    if (found.dlclose == nullptr) found.dlclose = reinterpret_cast<decltype(RealDl::dlclose)>(find("dlclose"));
}

bool has_all() noexcept {
    return found.dlclose != nullptr && found.dlsym != nullptr && found.dlvsym != nullptr && found.dlerror != nullptr;
}

/// Before glibc 2.34 the functions live in libdl.so.2, later in libc.so.6 (libdl.so.2 is then an empty shell). Other preloaded
/// libraries may define them too. Those that come after us are what a host without us would have called; one that comes before
/// us leads to us, and must not be led back.
bool visit_after_us(void* context, const elf::Object& object) noexcept {
    auto& passed_us = *static_cast<bool*>(context);
    if (is_ours(object.dynamic)) {
        passed_us = true;
    } else if (passed_us) {
        take(object);
    }
    return has_all();
}

/// We may have been opened late, behind the C library.
bool visit_any(void*, const elf::Object& object) noexcept {
    if (!is_ours(object.dynamic)) take(object);
    return has_all();
}

}  // namespace

const RealDl& real_dl() noexcept {
    if (!is_found.load(std::memory_order_acquire)) {
        bool passed_us = false;
        if (!elf::for_each_linked(visit_after_us, &passed_us)) elf::for_each_linked(visit_any, nullptr);
        is_found.store(true, std::memory_order_release);
    }
    return found;
}

void* real_next(const char* name, const char* version) noexcept {
    return version != nullptr ? real_dl().dlvsym(RTLD_NEXT, name, version) : real_dl().dlsym(RTLD_NEXT, name);
}

}  // namespace gpuspy::hook

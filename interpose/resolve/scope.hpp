// What a look-up from a given object can see: the global scope, and the scopes of the libraries that it was loaded with.
#pragma once

#include "interpose/resolve/elf.hpp"

namespace gpuspy::hook {

/// What dlsym(RTLD_DEFAULT, name) would give `caller` without us: the first definition in the global scope, else one in an
/// object that was loaded together with the caller. `caller` nullptr: the global scope alone. nullptr: nothing that it can see.
void* find_in_scope(const char* name, const elf::Object* caller) noexcept;

/// Whether some object needs both (DT_NEEDED, over any number of steps; each object needs itself): then the scope that it was
/// opened with is a scope of both.
bool share_scope(const elf::Object& first, const elf::Object& second) noexcept;

}  // namespace gpuspy::hook

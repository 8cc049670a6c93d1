// For host programs that are linked with no CUDA library: what of host.hpp needs none.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace host {

/// A function by name, or an end with a message.
template <class Function>
Function find(void* library, const char* name) {
    void* found = dlsym(library, name);
    if (found == nullptr) {
        std::printf("no %s\n", name);
        std::exit(3);
    }
    return reinterpret_cast<Function>(found);
}

}  // namespace host

// The loader's own look-up functions, behind the ones that we export.
#pragma once

namespace gpuspy::hook {

/// The C library's; found in its symbol table, once. Never nullptr in a process that has them (every glibc process).
struct RealDl {
    void* (*dlsym)(void* handle, const char* name);
    void* (*dlvsym)(void* handle, const char* name, const char* version);
    char* (*dlerror)();
    int (*dlclose)(void* handle);
};

const RealDl& real_dl() noexcept;

/// Next definition in the global scope after our own; `version` may be nullptr.
void* real_next(const char* name, const char* version) noexcept;

}  // namespace gpuspy::hook

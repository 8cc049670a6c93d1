// What our dlsym, dlvsym and dlerror decide. The exported symbols themselves are in dlsym_entry.cpp.
#pragma once

namespace gpuspy::hook {

/// Either an answer, or where to jump with the host's own arguments, so that the real function sees the real caller.
struct LookupDecision {
    void* answer;
    void* jump;  ///< Not nullptr: jump there.
};

extern "C" LookupDecision gpuspy_decide_dlsym(void* handle, const char* name, const void* caller) noexcept;
extern "C" LookupDecision gpuspy_decide_dlvsym(void* handle, const char* name, const char* version,
                                               const void* caller) noexcept;
extern "C" char* gpuspy_dlerror() noexcept;
extern "C" int gpuspy_dlclose(void* handle) noexcept;

}  // namespace gpuspy::hook

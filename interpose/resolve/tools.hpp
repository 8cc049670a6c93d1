// Libraries that look CUDA up for themselves and must get the originals: the driver finds itself this way (a hook would recurse),
// and tools would measure us.
#pragma once

#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/text.hpp"

namespace gpuspy::hook {

inline bool is_tool(const elf::Object& object) noexcept {
    constexpr const char* kPrefixes[] = {"libcuda.so",
                                         "libcupti.so",
                                         "libnvperf",
                                         "libnvidia",
                                         "libcudadebugger",
                                         "libsanitizer",
                                         "libInterceptorInjection",
                                         "libToolsInjection"};
    const char* name = elf::soname(object);
    for (const char* prefix : kPrefixes) {
        if (text::starts_with(name, prefix)) return true;
    }
    return false;
}

}  // namespace gpuspy::hook

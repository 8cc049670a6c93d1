// Comparing strings without the C library.
//
// The runtime of a sanitizer that is linked into the host looks up the real strcmp by dlsym: while it does, calls of strcmp
// from anywhere, our dlsym included, reach its interceptor, which has nothing to call yet. The files that use these are
// compiled so that the loops do not become calls again (CMakeLists.txt).
#pragma once

#include <cstddef>

namespace gpuspy::hook::text {

/// Like strcmp.
inline int compare(const char* a, const char* b) noexcept {
    while (*a != 0 && *a == *b) {
        ++a;
        ++b;
    }
    return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}

inline bool equal(const char* a, const char* b) noexcept {
    return compare(a, b) == 0;
}

inline bool starts_with(const char* text, const char* prefix) noexcept {
    while (*prefix != 0 && *text == *prefix) {
        ++text;
        ++prefix;
    }
    return *prefix == 0;
}

/// Like strrchr(text, '/') + 1, or the text.
inline const char* last_part(const char* text) noexcept {
    const char* part = text;
    for (; *text != 0; ++text) {
        if (*text == '/') part = text + 1;
    }
    return part;
}

/// Like strstr.
inline const char* find(const char* text, const char* wanted) noexcept {
    for (; *text != 0; ++text) {
        if (starts_with(text, wanted)) return text;
    }
    return nullptr;
}

}  // namespace gpuspy::hook::text

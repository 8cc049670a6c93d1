// Reading the SIM_* variables. Header only: each fake library has its own copy, as each real one has its own state.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace sim {

inline std::uint64_t environment_number(const char* name, std::uint64_t fallback) {
    const char* text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : fallback;
}

inline bool environment_is(const char* name, const char* value) {
    const char* text = std::getenv(name);
    return text != nullptr && std::strcmp(text, value) == 0;
}

}  // namespace sim

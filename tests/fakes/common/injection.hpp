// SIM_FAIL: makes chosen calls fail. One Injection per exported function; it reads its own part of the variable.
#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace sim {

class Injection {
public:
    explicit Injection(const char* function) {
        const std::size_t length = std::strlen(function);
        const char* at = std::getenv("SIM_FAIL");
        while (at != nullptr && *at != '\0') {
            if (std::strncmp(at, function, length) == 0 && at[length] == ':') {
                char* end = nullptr;
                code_ = static_cast<int>(std::strtol(at + length + 1, &end, 10));
                nth_ = *end == ':' ? std::strtoul(end + 1, nullptr, 10) : 0;
                return;
            }
            at = std::strchr(at, ',');
            at = at == nullptr ? nullptr : at + 1;
        }
    }

    /// The code that this call shall fail with, 0 if it shall not.
    int next() {
        if (code_ == 0) {
            return 0;
        }
        const unsigned long call = calls_.fetch_add(1, std::memory_order_relaxed) + 1;
        return nth_ == 0 || call == nth_ ? code_ : 0;
    }

private:
    int code_ = 0;
    unsigned long nth_ = 0;
    std::atomic<unsigned long> calls_{0};
};

}  // namespace sim

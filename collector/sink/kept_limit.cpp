#include "collector/sink/kept_limit.hpp"

#include <cstring>

namespace gpuspy::sink {

namespace {

struct Suffix {
    const char* text;
    bool is_time;
    std::uint64_t factor;  ///< To seconds, or bytes.
};

constexpr Suffix kSuffixes[] = {
    {"s", true, 1}, {"min", true, 60}, {"h", true, 3600}, {"M", false, 1ULL << 20}, {"G", false, 1ULL << 30},
};
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

/// One part, of `count` characters.
bool parse_part(const char* text, std::size_t count, KeptLimit* limit) noexcept {
    std::uint64_t number = 0;
    std::size_t at = 0;
    for (; at < count && text[at] >= '0' && text[at] <= '9' && number <= kMostKeptBytes; ++at) {
        number = number * 10 + static_cast<std::uint64_t>(text[at] - '0');
    }
    for (const Suffix& suffix : kSuffixes) {
        if (at == 0 || std::strlen(suffix.text) != count - at || std::memcmp(text + at, suffix.text, count - at) != 0) {
            continue;
        }
        const std::uint64_t most = (suffix.is_time ? kMostKeptSeconds : kMostKeptBytes) / suffix.factor;
        std::uint64_t& field = suffix.is_time ? limit->ns : limit->bytes;
        if (number == 0 || number > most || field != 0) {
            return false;
        }
        field = number * suffix.factor * (suffix.is_time ? kNsPerSecond : 1);
        return suffix.is_time || field >= kLeastKeptBytes;
    }
    return false;
}

}  // namespace

bool parse_kept_limit(const char* text, KeptLimit* limit) noexcept {
    KeptLimit parsed;
    for (const char* part = text;; ++part) {
        const char* end = std::strchr(part, ',');
        const std::size_t count = end == nullptr ? std::strlen(part) : static_cast<std::size_t>(end - part);
        if (!parse_part(part, count, &parsed)) {
            return false;
        }
        if (end == nullptr) {
            break;
        }
        part = end;
    }
    parsed.bytes = parsed.bytes == 0 ? kDefaultKeptBytes : parsed.bytes;
    *limit = parsed;
    return true;
}

}  // namespace gpuspy::sink

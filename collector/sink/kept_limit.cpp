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
constexpr char kTwice[] = "has two times or two sizes: say one of each at most";
constexpr char kTimeRange[] = "is out of range: a time is from 1s to 168h";
constexpr char kSizeRange[] = "is out of range: a size is from 4M to 1024G";

/// One part, of `count` characters. nullptr, or what is wrong.
const char* parse_part(const char* text, std::size_t count, KeptLimit* limit) noexcept {
    std::uint64_t number = 0;
    std::size_t at = 0;
    for (; at < count && text[at] >= '0' && text[at] <= '9'; ++at) {
        if (number <= kMostKeptBytes) {  // More digits make it no less out of range.
            number = number * 10 + static_cast<std::uint64_t>(text[at] - '0');
        }
    }
    for (const Suffix& suffix : kSuffixes) {
        if (at == 0 || std::strlen(suffix.text) != count - at || std::memcmp(text + at, suffix.text, count - at) != 0) {
            continue;
        }
        const std::uint64_t most = (suffix.is_time ? kMostKeptSeconds : kMostKeptBytes) / suffix.factor;
        std::uint64_t& field = suffix.is_time ? limit->ns : limit->bytes;
        if (field != 0) {
            return kTwice;
        }
        if (number == 0 || number > most || (!suffix.is_time && number * suffix.factor < kLeastKeptBytes)) {
            return suffix.is_time ? kTimeRange : kSizeRange;
        }
        field = number * suffix.factor * (suffix.is_time ? kNsPerSecond : 1);
        return nullptr;
    }
    return kNoKeptLimit;
}

}  // namespace

const char* parse_kept_limit(const char* text, KeptLimit* limit) noexcept {
    KeptLimit parsed;
    for (const char* part = text;; ++part) {
        const char* end = std::strchr(part, ',');
        const std::size_t count = end == nullptr ? std::strlen(part) : static_cast<std::size_t>(end - part);
        if (const char* problem = parse_part(part, count, &parsed); problem != nullptr) {
            return problem;
        }
        if (end == nullptr) {
            break;
        }
        part = end;
    }
    parsed.bytes = parsed.bytes == 0 ? kDefaultKeptBytes : parsed.bytes;
    *limit = parsed;
    return nullptr;
}

}  // namespace gpuspy::sink

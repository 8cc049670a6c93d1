// How much of a recording a flight recorder keeps: GPUSPY_LAST, gpuspy-run --last.
#pragma once

#include <cstdint>

namespace gpuspy::sink {

struct KeptLimit {
    std::uint64_t ns = 0;     ///< At least the last so many; 0: no time was asked for.
    std::uint64_t bytes = 0;  ///< The trace and its successor together are never larger; 0: everything is kept.
};

/// The limit on the size where only a time is asked for.
inline constexpr std::uint64_t kDefaultKeptBytes = 1ULL << 30;
inline constexpr std::uint64_t kLeastKeptBytes = 4ULL << 20;
inline constexpr std::uint64_t kMostKeptBytes = 1ULL << 40;
inline constexpr std::uint64_t kMostKeptSeconds = 7ULL * 24 * 3600;
inline constexpr char kNoKeptLimit[] =
    "is not a time (30s, 10min, 2h; 1s to 168h), a size (256M, 2G; 4M to 1024G), or both (30s,256M)";
/// What is accepted, for messages.
inline constexpr const char* kKeptLimitForms = kNoKeptLimit + sizeof "is not " - 1;

/// A time, a size, or both with a comma between: "30s", "10min", "2h"; "256M", "2G" (MiB, GiB). nullptr, or what is wrong with
/// it, to be put behind the text ("is not a time ..."); `limit` is unchanged then.
const char* parse_kept_limit(const char* text, KeptLimit* limit) noexcept;

}  // namespace gpuspy::sink

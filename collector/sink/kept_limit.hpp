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
/// What a wrong text should have been, for messages.
inline constexpr char kKeptLimitForms[] = "a time (30s, 10min, 2h), a size (256M, 2G), or both (30s,256M)";

/// A time, a size, or both with a comma between: "30s", "10min", "2h"; "256M", "2G" (MiB, GiB). False: it is none, or out of
/// range (1 s to 7 days, 4 MiB to 1 TiB); `limit` is unchanged then.
bool parse_kept_limit(const char* text, KeptLimit* limit) noexcept;

}  // namespace gpuspy::sink

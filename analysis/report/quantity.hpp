// Numbers as a person types them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gpuspy::report {

/// "1.5" and "1.5s" are seconds; "200ms", "30us", "5ns" too. nullopt for anything else, a negative time among it.
std::optional<std::int64_t> parse_duration_ns(const std::string& text);
/// Digits alone.
std::optional<std::uint64_t> parse_whole_number(const std::string& text);

}  // namespace gpuspy::report

#include "analysis/report/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace gpuspy::report {

std::optional<std::int64_t> parse_duration_ns(const std::string& text) {
    static constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
        {{"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"s", 1e9}, {"", 1e9}}};
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{} || !(value >= 0)) {
        return std::nullopt;
    }
    const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    for (const auto& [name, ns] : kUnits) {
        if (unit == name && value * ns < 9e18) {
            return std::llround(value * ns);
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> parse_whole_number(const std::string& text) {
    std::uint64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && rest == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace gpuspy::report

#include "analysis/render/display_text.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace gpuspy::analysis {
namespace {

/// Length of the well-formed UTF-8 sequence at the start of `text` (RFC 3629), 0 if there is none; its code point.
std::size_t decode_utf8(std::string_view text, std::uint32_t& code_point) {
    const auto byte = [text](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const std::uint32_t lead = byte(0);
    if (lead < 0x80) {
        code_point = lead;
        return 1;
    }
    const std::size_t length = lead >= 0xf0 && lead <= 0xf4  ? 4
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                                                             : 0;
    if (length == 0 || text.size() < length) {
        return 0;
    }
    code_point = lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) {
            return 0;
        }
        code_point = (code_point << 6) | (byte(i) & 0x3fU);
    }
    static constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
    return code_point < kLeast[length] || code_point > 0x10ffff || surrogate ? 0 : length;
}

bool is_harmful(std::uint32_t code_point) {
    return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) ||
           (code_point >= 0x200e && code_point <= 0x200f) || (code_point >= 0x2028 && code_point <= 0x202e) ||
           (code_point >= 0x2066 && code_point <= 0x2069);
}

bool starts_character(char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
}

std::string repaired(std::string_view text, bool (*is_unwanted)(std::uint32_t)) {
    std::string result;
    while (!text.empty()) {
        std::uint32_t code_point = 0;
        const std::size_t length = decode_utf8(text, code_point);
        if (length == 0) {
            result += "\xef\xbf\xbd";
            text.remove_prefix(1);
            continue;
        }
        if (is_unwanted(code_point)) {
            result += '?';
        } else {
            result += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return result;
}

}  // namespace

std::string printable(std::string_view text) {
    return repaired(text, is_harmful);
}

std::string valid_utf8(std::string_view text) {
    return repaired(text, [](std::uint32_t) { return false; });
}

std::string cut_middle(const std::string& text, std::size_t width) {
    std::size_t characters = 0;
    for (const char c : text) {
        characters += starts_character(c) ? 1 : 0;
    }
    if (characters <= width || width == 0) {
        return width == 0 ? "" : text;
    }
    const std::size_t head = width / 2;
    const std::size_t tail = width - 1 - head;
    std::string front, back;
    std::size_t seen = 0;
    for (const char c : text) {
        seen += starts_character(c) ? 1 : 0;
        if (seen <= head) {
            front += c;
        } else if (seen > characters - tail) {
            back += c;
        }
    }
    return front + "\u2026" + back;
}

std::string demangled(const std::string& mangled) {
    // Longer names than any compiler writes are not worth the demangler's time.
    constexpr std::size_t kMaxBytes = 1U << 14;
    if (!mangled.starts_with("_Z") || mangled.size() > kMaxBytes) {
        return mangled;
    }
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        ::abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : mangled;
}

std::string uuid_text(std::string_view uuid) {
    if (uuid.size() != 16) {
        return std::string(uuid);
    }
    std::string text = "GPU";
    for (std::size_t at = 0; at < uuid.size(); ++at) {
        text += at == 0 || at == 4 || at == 6 || at == 8 || at == 10 ? "-" : "";
        text += fmt::format("{:02x}", static_cast<unsigned char>(uuid[at]));
    }
    return text;
}

std::string duration_text(std::uint64_t ns) {
    if (ns < 1000) {
        return fmt::format("{} ns", ns);
    }
    static constexpr std::array kUnits = {"us", "ms", "s"};
    double value = static_cast<double>(ns) / 1000;
    std::size_t unit = 0;
    // Not 1000.0 of a unit: what rounds up to it is one of the next.
    while (value >= 999.95 && unit + 1 < kUnits.size()) {
        value /= 1000;
        ++unit;
    }
    const int decimals = value < 10 ? 3 : value < 100 ? 2 : 1;
    return fmt::format("{:.{}f} {}", value, decimals, kUnits[unit]);
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 1024) {
        return fmt::format("{} B", bytes);
    }
    static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1023.95 && unit + 1 < kUnits.size()) {
        value /= 1024;
        ++unit;
    }
    const int decimals = value < 10 ? 3 : value < 100 ? 2 : 1;
    return fmt::format("{:.{}f} {}", value, decimals, kUnits[unit]);
}

std::string count_text(std::uint64_t count) {
    const std::string digits = std::to_string(count);
    std::string result;
    for (std::size_t at = 0; at < digits.size(); ++at) {
        if (at != 0 && (digits.size() - at) % 3 == 0) {
            result += ',';
        }
        result += digits[at];
    }
    return result;
}

std::string percent_text(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace gpuspy::analysis

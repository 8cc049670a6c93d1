// Which arguments of a forwarded call are kept: abi::ApiEntry::fields, taken apart when the library is compiled.
#pragma once

#include <array>
#include <cstdint>

#include "collector/abi/event.hpp"

namespace gpuspy::hook {

enum class FieldKind : std::uint8_t {
    kSigned32,
    kUnsigned32,
    kWord,
    kPointed32,  ///< What the argument points to, after success.
    kPointed64,
    kArray32,  ///< As many elements as another word says, after success.
    kArray64,
    kBytes,  ///< The first bytes of a buffer of as many as another word says, after success.
    kStream,
};

struct Field {
    std::uint8_t place;
    FieldKind kind;
    std::uint8_t count_place;  ///< kArray32, kArray64, kBytes.
};

inline constexpr std::size_t kMaxFields = 12;
inline constexpr std::uint64_t kMaxArrayElements = 8;
inline constexpr std::uint64_t kMaxBufferBytes = 16;

struct Fields {
    std::uint8_t count = 0;
    std::array<Field, kMaxFields> at{};
};

/// Not constexpr on purpose: reached while compiling, it ends the compilation and its name says why.
inline void fields_of_a_row_cannot_be_read() {}

/// Takes "name:place type ..." apart. Wrong text fails to compile.
consteval Fields parse_fields(const char* text) {
    Fields fields;
    const auto number = [&text]() -> std::uint8_t {
        if (*text < '0' || *text > '9') fields_of_a_row_cannot_be_read();
        unsigned value = 0;
        for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<unsigned>(*text - '0');
        return static_cast<std::uint8_t>(value);
    };
    while (*text != 0) {
        while (*text != ':') {
            if (*text == 0 || *text == ' ') fields_of_a_row_cannot_be_read();
            ++text;
        }
        ++text;
        if (fields.count == kMaxFields) fields_of_a_row_cannot_be_read();
        Field& field = fields.at[fields.count++];
        field.place = number();
        switch (*text++) {
            case 'i':
                field.kind = FieldKind::kSigned32;
                break;
            case 'u':
                field.kind = FieldKind::kUnsigned32;
                break;
            case 'l':
            case 'w':
                field.kind = FieldKind::kWord;
                break;
            case '*':
                field.kind = FieldKind::kPointed64;
                break;
            case '%':
                field.kind = FieldKind::kPointed32;
                break;
            case 's':
                field.kind = FieldKind::kStream;
                break;
            case '@':
                field.count_place = number();
                field.kind = *text == 'i' ? FieldKind::kArray32 : FieldKind::kArray64;
                if (*text != 'i' && *text != 'l') fields_of_a_row_cannot_be_read();
                ++text;
                break;
            case '#':
                field.count_place = number();
                field.kind = FieldKind::kBytes;
                break;
            default:
                fields_of_a_row_cannot_be_read();
        }
        if (*text == ' ') ++text;
    }
    return fields;
}

}  // namespace gpuspy::hook

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
    kTyped,  ///< An array whose elements' type (cudnnBackendAttributeType_t) and number other words say, after success.
    kSumOfProducts,  ///< Of arrays of as many elements as another word says: the sum of the products of their elements, after success.
    kStream,
};

inline constexpr std::size_t kMaxFactors = 4;

struct Field {
    std::uint8_t place;
    FieldKind kind;
    std::uint8_t count_place;  ///< kArray32, kArray64, kBytes, kTyped, kSumOfProducts.
    std::uint8_t type_place;   ///< kTyped.
    std::uint8_t factors;      ///< kSumOfProducts: arrays, the one at `place` included.
    std::uint8_t factor_places[kMaxFactors];
    bool is_64;  ///< kSumOfProducts: their elements, and the number of them.
};

/// Calls whose word at `place` lies in [first, last] are not recorded, or, with `only`, no others are; first > last: all are.
struct Unless {
    std::uint8_t place = 0;
    std::uint32_t first = 1;
    std::uint32_t last = 0;
    bool only = false;

    [[nodiscard]] constexpr bool holds_none() const { return first > last; }
    [[nodiscard]] constexpr bool leaves_out(std::uint32_t word) const {
        return (word >= first && word <= last) != only;
    }
};

inline constexpr std::size_t kMaxFields = 12;
inline constexpr std::uint64_t kMaxArrayElements = 16;
/// Of arrays of typed elements: as many as fit beside the other words of cudnnBackendSetAttribute (operations of a graph).
inline constexpr std::uint64_t kMaxTypedElements = 27;
inline constexpr std::uint64_t kMaxSummedElements = 1 << 16;
inline constexpr std::uint64_t kMaxBufferBytes = 16;

struct Fields {
    std::uint8_t count = 0;
    std::array<Field, kMaxFields> at{};
    Unless unless{};
};

/// Bytes of an element of a cudnnBackendSetAttribute array, by its cudnnBackendAttributeType_t (cudnn_graph.h, cuDNN 9.19): enums
/// but for these.
constexpr std::uint32_t element_bytes(std::uint64_t type) {
    switch (type) {
        case 0:   // CUDNN_TYPE_HANDLE
        case 3:   // CUDNN_TYPE_INT64
        case 5:   // CUDNN_TYPE_DOUBLE
        case 6:   // CUDNN_TYPE_VOID_PTR
        case 15:  // CUDNN_TYPE_BACKEND_DESCRIPTOR
            return 8;
        case 2:   // CUDNN_TYPE_BOOLEAN
        case 24:  // CUDNN_TYPE_CHAR
            return 1;
        case 26:  // CUDNN_TYPE_FRACTION: two of 64 bits, of which the first is kept
            return 16;
        default:
            return 4;
    }
}

/// Not constexpr on purpose: reached while compiling, it ends the compilation and its name says why.
inline void fields_of_a_row_cannot_be_read() {}

/// Takes "name:place type ..." apart. Wrong text fails to compile.
consteval Fields parse_fields(const char* text) {
    Fields fields;
    const auto number = [&text]() -> std::uint32_t {
        if (*text < '0' || *text > '9') fields_of_a_row_cannot_be_read();
        std::uint32_t value = 0;
        for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<std::uint32_t>(*text - '0');
        return value;
    };
    const auto place = [&number] {
        const std::uint32_t value = number();
        if (value > 255) fields_of_a_row_cannot_be_read();
        return static_cast<std::uint8_t>(value);
    };
    const auto expect = [&text](char wanted) {
        if (*text++ != wanted) fields_of_a_row_cannot_be_read();
    };
    while (*text != 0) {
        while (*text != ':') {
            if (*text == 0 || *text == ' ') fields_of_a_row_cannot_be_read();
            ++text;
        }
        ++text;
        Field field{};
        field.place = place();
        if (*text == '!') {
            ++text;
            fields.unless.place = field.place;
            fields.unless.first = number();
            expect('-');
            fields.unless.last = number();
            if (*text == ' ') ++text;
            continue;
        }
        if (*text == '=') {
            ++text;
            fields.unless.place = field.place;
            fields.unless.first = fields.unless.last = number();
            fields.unless.only = true;
            if (*text == ' ') ++text;
            continue;
        }
        switch (*text++) {
            case 'i':
                field.kind = FieldKind::kSigned32;
                break;
            case 'u':
                field.kind = FieldKind::kUnsigned32;
                break;
            case 'l':
            case 'w':
            case 'p':
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
                field.count_place = place();
                field.kind = *text == 'i' ? FieldKind::kArray32 : FieldKind::kArray64;
                if (*text != 'i' && *text != 'l') fields_of_a_row_cannot_be_read();
                ++text;
                break;
            case '#':
                field.count_place = place();
                field.kind = FieldKind::kBytes;
                break;
            case 'B':
                field.count_place = place();
                expect(',');
                field.type_place = place();
                field.kind = FieldKind::kTyped;
                break;
            case 'x':
                field.kind = FieldKind::kSumOfProducts;
                field.factor_places[field.factors++] = field.place;
                while (*text >= '0' && *text <= '9') {
                    if (field.factors == kMaxFactors) fields_of_a_row_cannot_be_read();
                    field.factor_places[field.factors++] = place();
                    if (*text == 'x') ++text;
                }
                expect('@');
                field.count_place = place();
                field.is_64 = *text == 'l';
                if (*text != 'i' && *text != 'l') fields_of_a_row_cannot_be_read();
                ++text;
                break;
            default:
                fields_of_a_row_cannot_be_read();
        }
        if (fields.count == kMaxFields) fields_of_a_row_cannot_be_read();
        fields.at[fields.count++] = field;
        if (*text == ' ') ++text;
    }
    return fields;
}

}  // namespace gpuspy::hook

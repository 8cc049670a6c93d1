// Bounds and texts of records, for the encoder's parts alone.
#pragma once

#include <cstddef>
#include <cstring>

#include "collector/sink/encoder.hpp"

namespace gpuspy::sink {

// Upper bounds. A record is tag and length (at most 6 bytes together, since tags are small) and its body.
inline constexpr std::size_t kRecordHead = 6;
inline constexpr std::size_t kValueDefinition = kRecordHead + kMaxVarintBytes;
inline constexpr std::size_t kApiDefinition = kRecordHead + 4 * kMaxVarintBytes + sizeof(abi::ApiEntry) + 6;
/// Twelve flags' fields: 31 numbers at most, and the arguments.
inline constexpr std::size_t kCallRecord =
    kApiDefinition + 4 * kValueDefinition + kRecordHead + (31 + abi::kMaxArgumentWords) * kMaxVarintBytes;
inline constexpr std::size_t kDeviceRecord = kRecordHead + 24 * kMaxVarintBytes;
inline constexpr std::size_t kSmallRecord = kRecordHead + 12 * kMaxVarintBytes;

inline std::size_t text_bytes(const char* text) noexcept {
    return text == nullptr ? 0 : strnlen(text, Encoder::kMaxStringBytes);
}

inline void put_text(WireBuffer& record, const char* text) noexcept {
    record.string(text, text_bytes(text));
}

}  // namespace gpuspy::sink

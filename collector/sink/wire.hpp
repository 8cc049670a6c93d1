// Varints and strings into a buffer that the caller has checked for room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpuspy::sink {

inline constexpr std::size_t kMaxVarintBytes = 10;

/// Zigzag: small magnitudes of either sign become small numbers.
constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
    return (static_cast<std::uint64_t>(value) << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0);
}

/// A bounded output. Writing beyond the end is dropped and remembered, so that a wrong estimate cannot harm.
class WireBuffer {
public:
    constexpr WireBuffer() noexcept = default;
    constexpr WireBuffer(std::uint8_t* begin, std::size_t capacity) noexcept : begin_(begin), capacity_(capacity) {}

    const std::uint8_t* data() const noexcept { return begin_; }
    std::size_t size() const noexcept { return size_; }
    std::size_t room() const noexcept { return capacity_ - size_; }
    bool overflowed() const noexcept { return overflowed_; }
    void clear() noexcept {
        size_ = 0;
        overflowed_ = false;
    }

    void varint(std::uint64_t value) noexcept {
        std::uint8_t bytes[kMaxVarintBytes];
        std::size_t count = 0;
        while (value >= 0x80) {
            bytes[count++] = static_cast<std::uint8_t>(value | 0x80);
            value >>= 7;
        }
        bytes[count++] = static_cast<std::uint8_t>(value);
        raw(bytes, count);
    }
    void svarint(std::int64_t value) noexcept { varint(zigzag(value)); }
    /// `current` relative to `previous`, either way round the 64 bits.
    void delta(std::uint64_t current, std::uint64_t previous) noexcept {
        svarint(static_cast<std::int64_t>(current - previous));
    }
    void raw(const void* bytes, std::size_t count) noexcept {
        if (count > room()) {
            overflowed_ = true;
        } else if (count != 0) {  // `bytes` may be nullptr when there are none.
            std::memcpy(begin_ + size_, bytes, count);
            size_ += count;
        }
    }
    void string(const char* text, std::size_t count) noexcept {
        varint(count);
        raw(text, count);
    }

private:
    std::uint8_t* begin_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
    bool overflowed_ = false;
};

/// Reads what a WireBuffer wrote; distrusts it. After a failure everything reads as 0.
class WireReader {
public:
    constexpr WireReader(const std::uint8_t* begin, std::size_t count) noexcept : at_(begin), left_(count) {}

    bool failed() const noexcept { return failed_; }
    std::size_t left() const noexcept { return left_; }
    const std::uint8_t* at() const noexcept { return at_; }

    /// `count` is at most left().
    void skip(std::size_t count) noexcept {
        at_ += count;
        left_ -= count;
    }
    std::uint64_t varint() noexcept {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 7 * kMaxVarintBytes && left_ != 0; shift += 7) {
            const std::uint8_t byte = *at_++;
            --left_;
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) {
                return value;
            }
        }
        failed_ = true;
        left_ = 0;
        return 0;
    }

private:
    const std::uint8_t* at_;
    std::size_t left_;
    bool failed_ = false;
};

}  // namespace gpuspy::sink

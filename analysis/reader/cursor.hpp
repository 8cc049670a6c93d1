// Reads the fields of a record and never past its end. A failure sticks: read all fields, then ask ok() once.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace gpuspy::analysis {

class Cursor {
public:
    explicit Cursor(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    /// Every field so far was whole and in range. After a failure all fields read as 0 or "".
    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] bool at_end() const { return at_ == end_; }
    [[nodiscard]] std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

    /// Unsigned LEB128, at most 10 bytes and 64 bits.
    std::uint64_t varint() {
        // Most fields are one byte.
        if (at_ != end_ && static_cast<std::uint8_t>(*at_) < 0x80) {
            return static_cast<std::uint8_t>(*at_++);
        }
        return long_varint();
    }

    /// Passes over so many varints.
    void skip(unsigned count) {
        // Eight bytes at a time: those with a clear top bit end a varint. One that begins and ends in them is in range.
        while (count != 0 && end_ - at_ >= 8 && std::endian::native == std::endian::little) {
            std::uint64_t word = 0;
            std::memcpy(&word, at_, sizeof word);
            std::uint64_t last = 0;
            for (std::uint64_t ends = ~word & kTopBits; ends != 0 && count != 0; ends &= ends - 1) {
                last = ends & (~ends + 1);
                --count;
            }
            if (last == 0) {
                varint();
                --count;
            } else {
                at_ += std::countr_zero(last) / 8 + 1;
            }
        }
        for (; count != 0; --count) {
            varint();
        }
    }

    /// A varint that must fit 32 bits.
    std::uint32_t varint32() {
        const std::uint64_t value = varint();
        return value <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(value)
                                                                  : static_cast<std::uint32_t>(fail());
    }

    /// Zigzag, then varint.
    std::int64_t svarint() {
        const std::uint64_t value = varint();
        return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
    }

    std::string_view bytes(std::uint64_t count) {
        if (count > static_cast<std::uint64_t>(end_ - at_)) {
            fail();
            return {};
        }
        const std::string_view result(at_, static_cast<std::size_t>(count));
        at_ += count;
        return result;
    }

    /// Varint length, then as many bytes.
    std::string_view string() { return bytes(varint()); }

    std::uint64_t fail() {
        ok_ = false;
        at_ = end_;
        return 0;
    }

private:
    static constexpr std::uint64_t kTopBits = 0x8080808080808080;

    std::uint64_t long_varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 70 && at_ != end_; shift += 7) {
            const auto byte = static_cast<std::uint8_t>(*at_++);
            if (shift == 63 && byte > 1) {
                break;
            }
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if ((byte & 0x80U) == 0) {
                return value;
            }
        }
        return fail();
    }

    const char* at_;
    const char* end_;
    bool ok_ = true;
};

}  // namespace gpuspy::analysis

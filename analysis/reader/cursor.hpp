// Reads the fields of a record and never past its end. A failure sticks: read all fields, then ask ok() once.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace gpuspy::analysis {

class Cursor {
public:
    explicit Cursor(std::string_view bytes) : rest_(bytes) {}

    /// Every field so far was whole and in range. After a failure all fields read as 0 or "".
    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    [[nodiscard]] std::string_view rest() const { return rest_; }

    /// Unsigned LEB128, at most 10 bytes and 64 bits.
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 70 && !rest_.empty(); shift += 7) {
            const auto byte = static_cast<std::uint8_t>(rest_.front());
            rest_.remove_prefix(1);
            if (shift == 63 && byte > 1) {
                break;
            }
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if ((byte & 0x80U) == 0) {
                return ok_ ? value : 0;
            }
        }
        return fail();
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
        if (count > rest_.size()) {
            fail();
            return {};
        }
        const std::string_view result = rest_.substr(0, static_cast<std::size_t>(count));
        rest_.remove_prefix(static_cast<std::size_t>(count));
        return result;
    }

    /// Varint length, then as many bytes.
    std::string_view string() { return bytes(varint()); }

    std::uint64_t fail() {
        ok_ = false;
        rest_ = {};
        return 0;
    }

private:
    std::string_view rest_;
    bool ok_ = true;
};

}  // namespace gpuspy::analysis

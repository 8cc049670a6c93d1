// Texts in fixed buffers, without the printf family (which may allocate).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpuspy::ring {

/// Appends to a caller's buffer; always zero-terminated; what does not fit is cut and remembered.
class TextBuilder {
public:
    TextBuilder(char* buffer, std::size_t capacity) noexcept : buffer_(buffer), capacity_(capacity) {
        buffer_[0] = '\0';
    }

    TextBuilder& text(const char* text) noexcept { return text_n(text, std::strlen(text)); }
    TextBuilder& text_n(const char* text, std::size_t count) noexcept {
        const std::size_t room = capacity_ - 1 - size_;
        if (count > room) {
            cut_ = true;
            count = room;
        }
        std::memcpy(buffer_ + size_, text, count);
        size_ += count;
        buffer_[size_] = '\0';
        return *this;
    }
    TextBuilder& decimal(std::uint64_t value) noexcept { return number(value, 10, 1); }
    /// Lower-case hexadecimal, at least `digits` digits.
    TextBuilder& hex(std::uint64_t value, unsigned digits = 1) noexcept { return number(value, 16, digits); }

    std::size_t size() const noexcept { return size_; }
    bool was_cut() const noexcept { return cut_; }

private:
    TextBuilder& number(std::uint64_t value, unsigned base, unsigned digits) noexcept {
        char reversed[20];
        unsigned count = 0;
        while (value != 0 || count < digits) {
            reversed[count++] = "0123456789abcdef"[value % base];
            value /= base;
        }
        char forward[20];
        for (unsigned i = 0; i < count; ++i) {
            forward[i] = reversed[count - 1 - i];
        }
        return text_n(forward, count);
    }

    char* buffer_;
    std::size_t capacity_;
    std::size_t size_ = 0;
    bool cut_ = false;
};

}  // namespace gpuspy::ring

// The texts that NVTX hands over, into a buffer of ours: cut at a whole character, wide ones as UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpuspy::hook::nvtx {

/// The largest number of bytes, at most `limit`, that does not end within a character. Bytes that are not UTF-8 are left
/// as they are.
inline std::size_t cut_text(const char* text, std::size_t bytes, std::size_t limit) noexcept {
    if (bytes <= limit) return bytes;
    constexpr std::size_t kMaxContinuation = 3;
    std::size_t end = limit;
    // text[end] would be the first byte left out: a character may not go on there.
    while (end > 0 && limit - end < kMaxContinuation && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    return (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U ? limit : end;
}

/// A text of at most kMaxBytes bytes. Any of the host's pointers may be nullptr: then it is empty.
template <std::size_t kMaxBytes>
class Text {
public:
    Text() noexcept = default;

    void narrow(const char* text) noexcept {
        if (text == nullptr) return;
        const std::size_t bytes = strnlen(text, kMaxBytes + 1);
        size_ = cut_text(text, bytes, kMaxBytes);
        borrowed_ = text;
    }

    /// Code units beyond Unicode become U+FFFD.
    void wide(const wchar_t* text) noexcept {
        if (text == nullptr) return;
        for (; *text != 0; ++text) {
            char bytes[4];
            const std::size_t count = encode(static_cast<std::uint32_t>(*text), bytes);
            if (size_ + count > kMaxBytes) return;
            std::memcpy(own_ + size_, bytes, count);
            size_ += count;
        }
    }

    /// A text that outlives this one.
    void lasting(const char* text, std::size_t bytes) noexcept {
        size_ = cut_text(text, bytes, kMaxBytes);
        borrowed_ = text;
    }

    const char* data() const noexcept { return borrowed_ != nullptr ? borrowed_ : own_; }
    std::size_t size() const noexcept { return size_; }

private:
    static std::size_t encode(std::uint32_t code, char* into) noexcept {
        if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
        const auto put = [into](std::size_t at, std::uint32_t byte) { into[at] = static_cast<char>(byte); };
        if (code < 0x80) {
            put(0, code);
            return 1;
        }
        if (code < 0x800) {
            put(0, 0xc0 | code >> 6);
            put(1, 0x80 | (code & 0x3f));
            return 2;
        }
        if (code < 0x10000) {
            put(0, 0xe0 | code >> 12);
            put(1, 0x80 | (code >> 6 & 0x3f));
            put(2, 0x80 | (code & 0x3f));
            return 3;
        }
        put(0, 0xf0 | code >> 18);
        put(1, 0x80 | (code >> 12 & 0x3f));
        put(2, 0x80 | (code >> 6 & 0x3f));
        put(3, 0x80 | (code & 0x3f));
        return 4;
    }

    const char* borrowed_ = nullptr;
    std::size_t size_ = 0;
    char own_[kMaxBytes];  ///< Not zeroed: it is written only for wide texts.
};

}  // namespace gpuspy::hook::nvtx

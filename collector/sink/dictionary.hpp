// The dictionaries of a segment: fixed memory, open addressing, emptied by a generation number instead of a sweep.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuspy::sink {

/// What a look-up gave.
struct DictionaryEntry {
    std::uint32_t index;  ///< From 1; 0 is the value 0 or the empty string.
    bool is_new;          ///< The caller must write the definition.
};

/// 64-bit values: return addresses, streams, functions, executable graphs.
class ValueDictionary {
public:
    constexpr ValueDictionary() noexcept = default;
    int init() noexcept;
    void destroy() noexcept;
    void clear() noexcept;
    /// Whether `count` more values surely fit.
    bool has_room(std::uint32_t count) const noexcept { return used_ + count <= kMaxEntries; }
    /// Only while has_room(1).
    DictionaryEntry find_or_add(std::uint64_t value) noexcept;

    static constexpr std::uint32_t kSlots = 1U << 17;
    static constexpr std::uint32_t kMaxEntries = kSlots / 2;

private:
    struct Slot {
        std::uint64_t value;
        std::uint32_t index;
        std::uint32_t generation;
    };
    Slot* slots_ = nullptr;
    std::uint32_t used_ = 0;
    std::uint32_t generation_ = 0;
};

/// Texts by content: names of kernels, ranges and their domains.
class TextDictionary {
public:
    constexpr TextDictionary() noexcept = default;
    int init() noexcept;
    void destroy() noexcept;
    void clear() noexcept;
    /// Whether `texts` more, of `bytes` bytes together, surely fit.
    bool has_room(std::size_t bytes, std::uint32_t texts = 1) const noexcept {
        return used_ + texts <= kMaxEntries && bytes <= kArenaBytes - arena_used_;
    }
    /// Only while has_room(bytes).
    DictionaryEntry find_or_add(const char* text, std::size_t bytes) noexcept;

    static constexpr std::uint32_t kSlots = 1U << 15;
    static constexpr std::uint32_t kMaxEntries = kSlots / 2;
    static constexpr std::size_t kArenaBytes = 8U << 20;

private:
    struct Slot {
        std::uint64_t hash;
        std::uint32_t offset;
        std::uint32_t bytes;
        std::uint32_t index;
        std::uint32_t generation;
    };
    Slot* slots_ = nullptr;
    char* arena_ = nullptr;
    std::size_t arena_used_ = 0;
    std::uint32_t used_ = 0;
    std::uint32_t generation_ = 0;
};

}  // namespace gpuspy::sink

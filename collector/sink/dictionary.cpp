#include "collector/sink/dictionary.hpp"

#include <cerrno>
#include <cstring>

#include "collector/sink/memory.hpp"
#include "collector/sink/xxhash64.hpp"

namespace gpuspy::sink {

int ValueDictionary::init() noexcept {
    slots_ = map_memory<Slot>(kSlots);
    return slots_ == nullptr ? ENOMEM : 0;
}

void ValueDictionary::destroy() noexcept {
    unmap_memory(slots_, kSlots);
    slots_ = nullptr;
}

void ValueDictionary::clear() noexcept {
    ++generation_;
    used_ = 0;
}

DictionaryEntry ValueDictionary::find_or_add(std::uint64_t value) noexcept {
    if (value == 0) {
        return {0, false};
    }
    // Fibonacci hashing: addresses differ in their middle bits.
    constexpr unsigned kShift = 64 - 17;
    static_assert(kSlots == 1U << (64 - kShift));
    for (std::uint64_t at = (value * 0x9e3779b97f4a7c15ULL) >> kShift;; at = (at + 1) % kSlots) {
        Slot& slot = slots_[at];
        if (slot.generation != generation_) {
            slot = {value, ++used_, generation_};
            return {slot.index, true};
        }
        if (slot.value == value) {
            return {slot.index, false};
        }
    }
}

int TextDictionary::init() noexcept {
    slots_ = map_memory<Slot>(kSlots);
    arena_ = map_memory<char>(kArenaBytes);
    return slots_ == nullptr || arena_ == nullptr ? ENOMEM : 0;
}

void TextDictionary::destroy() noexcept {
    unmap_memory(slots_, kSlots);
    unmap_memory(arena_, kArenaBytes);
    slots_ = nullptr;
    arena_ = nullptr;
}

void TextDictionary::clear() noexcept {
    ++generation_;
    used_ = 0;
    arena_used_ = 0;
}

DictionaryEntry TextDictionary::find_or_add(const char* text, std::size_t bytes) noexcept {
    if (bytes == 0) {
        return {0, false};
    }
    const std::uint64_t hash = xxhash64(text, bytes);
    for (std::uint64_t at = hash % kSlots;; at = (at + 1) % kSlots) {
        Slot& slot = slots_[at];
        if (slot.generation != generation_) {
            slot = {hash, static_cast<std::uint32_t>(arena_used_), static_cast<std::uint32_t>(bytes), ++used_,
                    generation_};
            std::memcpy(arena_ + arena_used_, text, bytes);
            arena_used_ += bytes;
            return {slot.index, true};
        }
        if (slot.hash == hash && slot.bytes == bytes && std::memcmp(arena_ + slot.offset, text, bytes) == 0) {
            return {slot.index, false};
        }
    }
}

}  // namespace gpuspy::sink

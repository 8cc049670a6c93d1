#include "collector/sink/lasting_facts.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "collector/sink/memory.hpp"
#include "collector/sink/wire.hpp"
#include "collector/sink/xxhash64.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::size_t kArenaWords = LastingFacts::kArenaBytes / sizeof(std::uint64_t);
constexpr std::size_t kReservedWords = kArenaWords / 8;

std::size_t words_of(std::size_t bytes) noexcept {
    return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
}

}  // namespace

int LastingFacts::init() noexcept {
    slots_ = map_memory<Slot>(kSlots);
    arena_ = map_memory<std::uint64_t>(kArenaWords);
    other_arena_ = map_memory<std::uint64_t>(kArenaWords);
    if (slots_ == nullptr || arena_ == nullptr || other_arena_ == nullptr) {
        destroy();
        return ENOMEM;
    }
    return 0;
}

void LastingFacts::destroy() noexcept {
    unmap_memory(slots_, kSlots);
    unmap_memory(arena_, kArenaWords);
    unmap_memory(other_arena_, kArenaWords);
    slots_ = nullptr;
    arena_ = nullptr;
    other_arena_ = nullptr;
    used_words_ = 1;
    moved_words_ = 1;
    used_slots_ = 0;
    refused_ = 0;
}

/// Which thing a record is about, by the fields that it begins with (abi/trace_format.hpp).
LastingFacts::Identity LastingFacts::identify(abi::Tag tag, const std::uint8_t* fields, std::size_t bytes) noexcept {
    WireReader reader(fields, bytes);
    Identity identity;
    identity.lasts = true;
    switch (tag) {
        case abi::Tag::kName:
        case abi::Tag::kObject:
        case abi::Tag::kGraphExec:
        case abi::Tag::kGraphNodes:
        case abi::Tag::kSpan:
            identity.ticks = reader.varint();
            identity.key = reader.varint();
            break;
        case abi::Tag::kDevice:
            identity.key = reader.varint();
            break;
        case abi::Tag::kInfo: {
            const std::uint64_t key_bytes = reader.varint();
            identity.key = xxhash64(reader.at(), key_bytes < reader.left() ? key_bytes : reader.left());
            break;
        }
        case abi::Tag::kLoss: {
            const std::uint64_t cause = reader.varint();
            reader.varint();  // The count.
            identity.key = cause << 32 | reader.varint();
            break;
        }
        case abi::Tag::kNotice:
            reader.varint();  // The time: what is said again is one thing.
            identity.key = xxhash64(reader.at(), reader.left());
            break;
        default:
            identity.lasts = false;
            break;
    }
    return identity;
}

LastingFacts::Slot& LastingFacts::find(abi::Tag tag, std::uint64_t key) noexcept {
    const auto number = static_cast<std::uint32_t>(tag);
    std::size_t at = ((key ^ std::uint64_t{number} << 56) * 0x9e3779b97f4a7c15ULL) >> 47;
    static_assert(kSlots == 1U << 17);
    while (slots_[at].last != 0 && (slots_[at].key != key || slots_[at].tag != number)) {
        at = (at + 1) % kSlots;
    }
    return slots_[at];
}

std::uint32_t LastingFacts::add(const Entry& head, const std::uint8_t* fields) noexcept {
    const auto at = static_cast<std::uint32_t>(used_words_);
    std::memcpy(arena_ + at, &head, sizeof head);
    std::memcpy(reinterpret_cast<std::uint8_t*>(arena_ + at) + sizeof head, fields, head.bytes);
    used_words_ += words_of(sizeof head + head.bytes);
    return at;
}

/// Moves what is live to the other arena where the first is full up to `limit`.
bool LastingFacts::make_room(std::size_t words, std::size_t limit) noexcept {
    if (used_words_ + words <= limit) {
        return true;
    }
    // A move that gains little would come again with every record.
    if (used_words_ - moved_words_ < kReservedWords / 2) {
        return false;
    }
    std::swap(arena_, other_arena_);
    used_words_ = 1;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const std::uint32_t first = slots_[i].last;
        slots_[i].last = 0;
        for (std::uint32_t from = first; from != 0;) {
            const auto* old = reinterpret_cast<const Entry*>(other_arena_ + from);
            const Entry head{old->ticks, slots_[i].last, old->bytes};
            slots_[i].last = add(head, reinterpret_cast<const std::uint8_t*>(old + 1));
            from = old->previous;
        }
    }
    moved_words_ = used_words_;
    return used_words_ + words <= limit;
}

void LastingFacts::keep(abi::Tag tag, const std::uint8_t* fields, std::size_t bytes) noexcept {
    const Identity identity = identify(tag, fields, bytes);
    if (!identity.lasts) {
        return;
    }
    // There are few of these, and without them the file would claim to be complete.
    const bool may_use_reserve = tag == abi::Tag::kLoss || tag == abi::Tag::kSpan;
    Slot& slot = find(tag, identity.key);
    const bool has_slot = slot.last != 0 || used_slots_ < (may_use_reserve ? kMostUsed : kMostUsed - kReservedSlots);
    if (!has_slot ||
        !make_room(words_of(sizeof(Entry) + bytes), may_use_reserve ? kArenaWords : kArenaWords - kReservedWords)) {
        ++refused_;
        return;
    }
    used_slots_ += slot.last == 0 ? 1 : 0;
    const bool goes_on = tag == abi::Tag::kGraphNodes && slot.last != 0 && entry(slot.last).ticks == identity.ticks;
    const Entry head{identity.ticks, goes_on ? slot.last : 0, static_cast<std::uint32_t>(bytes)};
    slot.key = identity.key;
    slot.tag = static_cast<std::uint32_t>(tag);
    slot.last = add(head, fields);
}

}  // namespace gpuspy::sink

// What a trace says once and what holds for the rest of it: names of functions, executable graphs, mapped objects, devices,
// versions, running totals. A flight recorder keeps the last word of each, to say it again in a file that begins later.
//
// Fixed memory from the kernel, touched as used. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/trace_format.hpp"

namespace gpuspy::sink {

class LastingFacts {
public:
    constexpr LastingFacts() noexcept = default;
    LastingFacts(const LastingFacts&) = delete;
    LastingFacts& operator=(const LastingFacts&) = delete;

    /// 0 or an errno value.
    int init() noexcept;
    void destroy() noexcept;

    /// Takes a copy of a record's fields if it is of a kind that holds for the whole file, in place of what was known of the
    /// same thing. Without room for it, it is counted; some room is for losses and spans alone.
    /// What is known of already needs no new slot.
    void keep(abi::Tag tag, const std::uint8_t* fields, std::size_t bytes) noexcept;
    std::uint64_t refused() const noexcept { return refused_; }

    /// What holds now: `visit(abi::Tag, const std::uint8_t* fields, std::size_t bytes)`.
    template <class Visit>
    void visit(Visit&& visit) const noexcept {
        for (std::size_t i = 0; i < kSlots; ++i) {
            for (std::uint32_t at = slots_[i].last; at != 0; at = entry(at).previous) {
                visit(static_cast<abi::Tag>(slots_[i].tag), fields(at), std::size_t{entry(at).bytes});
            }
        }
    }

    static constexpr std::size_t kArenaBytes = 32U << 20;

private:
    static constexpr std::size_t kSlots = 1U << 17;
    static constexpr std::size_t kMostUsed = kSlots / 4 * 3;
    static constexpr std::size_t kReservedSlots = 8192;  ///< For losses (of each ring) and spans.

    /// Of a thing: its newest entry. Nodes of a graph come in several records, which hang on each other.
    struct Slot {
        std::uint64_t key;
        std::uint32_t tag;
        std::uint32_t last;  ///< Offset of an entry in 8-byte words; 0: the slot is free.
    };
    struct Entry {
        std::uint64_t ticks;     ///< kGraphNodes: of which version of the graph.
        std::uint32_t previous;  ///< kGraphNodes: another of the same version; 0: none.
        std::uint32_t bytes;
    };
    struct Identity {
        bool lasts = false;
        std::uint64_t key = 0, ticks = 0;
    };

    static Identity identify(abi::Tag tag, const std::uint8_t* fields, std::size_t bytes) noexcept;
    Slot& find(abi::Tag tag, std::uint64_t key) noexcept;
    bool make_room(std::size_t words, std::size_t limit) noexcept;
    std::uint32_t add(const Entry& head, const std::uint8_t* fields) noexcept;
    const Entry& entry(std::uint32_t at) const noexcept { return *reinterpret_cast<const Entry*>(arena_ + at); }
    const std::uint8_t* fields(std::uint32_t at) const noexcept {
        return reinterpret_cast<const std::uint8_t*>(arena_ + at) + sizeof(Entry);
    }

    Slot* slots_ = nullptr;
    std::uint64_t* arena_ = nullptr;
    std::uint64_t* other_arena_ = nullptr;  ///< What is live moves there when the arena is full.
    std::size_t used_words_ = 1;            ///< Word 0 stands for none.
    std::size_t moved_words_ = 1;           ///< Of those, what was live at the last move.
    std::size_t used_slots_ = 0;
    std::uint64_t refused_ = 0;
};

}  // namespace gpuspy::sink

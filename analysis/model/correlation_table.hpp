// What waits under a correlation id. Ids are given one after the other and taken in nearly the same order, so neighbours lie
// side by side: the table is read and written from front to back like a ring, in memory for what waits at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpuspy::analysis {

/// Open addressing, linear probing; at most half full. One value for each id.
template <class Value>
class CorrelationTable {
public:
    /// False if there is one with this id already.
    bool add(std::uint64_t id, Value value) {
        if (2 * (count_ + 1) > slots_.size()) {
            grow();
        }
        std::size_t at = home(id);
        for (; slots_[at].used; at = next(at)) {
            if (slots_[at].id == id) {
                return false;
            }
        }
        slots_[at] = {id, std::move(value), true};
        ++count_;
        return true;
    }

    /// Valid until the next add() or erase(); nullptr: none.
    [[nodiscard]] const Value* find(std::uint64_t id) const {
        if (count_ == 0) {
            return nullptr;
        }
        for (std::size_t at = home(id); slots_[at].used; at = next(at)) {
            if (slots_[at].id == id) {
                return &slots_[at].value;
            }
        }
        return nullptr;
    }

    /// What find() gave.
    void erase(const Value* value) {
        std::size_t hole = 0;
        // The values lie in the slots at equal distances.
        hole = static_cast<std::size_t>(reinterpret_cast<const char*>(value) -
                                        reinterpret_cast<const char*>(&slots_[0].value)) /
               sizeof(Slot);
        --count_;
        // What was pushed beyond the hole by others moves back, so that a search may end at an empty slot.
        for (std::size_t at = next(hole); slots_[at].used; at = next(at)) {
            const std::size_t mask = slots_.size() - 1;
            if (((at - home(slots_[at].id)) & mask) >= ((at - hole) & mask)) {
                slots_[hole] = std::move(slots_[at]);
                hole = at;
            }
        }
        slots_[hole].used = false;
    }

    template <class Visit>
    void for_each(Visit visit) const {
        for (const Slot& slot : slots_) {
            if (slot.used) {
                visit(slot.value);
            }
        }
    }

private:
    struct Slot {
        std::uint64_t id = 0;
        Value value{};
        bool used = false;
    };

    /// Runs of 64 ids lie together, each run somewhere else: ids in steps of a power of two must not fall on one place.
    [[nodiscard]] std::size_t home(std::uint64_t id) const {
        const std::uint64_t run = (id >> 6) * 0x9e3779b97f4a7c15;
        return static_cast<std::size_t>((run >> 32 << 6 | (id & 63)) & (slots_.size() - 1));
    }
    [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

    void grow() {
        std::vector<Slot> before(slots_.empty() ? 1024 : 2 * slots_.size());
        before.swap(slots_);
        count_ = 0;
        for (Slot& slot : before) {
            if (slot.used) {
                add(slot.id, std::move(slot.value));
            }
        }
    }

    std::vector<Slot> slots_;  // A power of two.
    std::size_t count_ = 0;
};

}  // namespace gpuspy::analysis

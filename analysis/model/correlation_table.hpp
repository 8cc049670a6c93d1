// What waits under a correlation id. Ids are given one after the other and taken in nearly the same order, so each has the place
// that its last bits say: the table is written and read from front to back like a ring, in memory for what waits at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpuspy::analysis {

template <class Value>
class CorrelationTable {
public:
    /// False if the place of this id is taken, by itself or by one that has been waiting for long.
    bool add(std::uint64_t id, const Value& value) {
        while (slots_.empty() || (slots_[place(id)].used && slots_[place(id)].id != id)) {
            if (4 * count_ < slots_.size()) {
                return false;
            }
            grow();
        }
        Slot& slot = slots_[place(id)];
        if (slot.used) {
            return false;
        }
        slot = {id, value, true};
        ++count_;
        return true;
    }

    [[nodiscard]] bool holds(std::uint64_t id) const {
        return !slots_.empty() && slots_[place(id)].used && slots_[place(id)].id == id;
    }

    /// Of an id that it holds.
    Value take(std::uint64_t id) {
        slots_[place(id)].used = false;
        --count_;
        return slots_[place(id)].value;
    }

    template <class Visit>
    void for_each(Visit visit) const {
        for (const Slot& slot : slots_) {
            if (slot.used) {
                visit(slot.id, slot.value);
            }
        }
    }

private:
    struct Slot {
        std::uint64_t id = 0;
        Value value{};
        bool used = false;
    };

    [[nodiscard]] std::size_t place(std::uint64_t id) const {
        return static_cast<std::size_t>(id) & (slots_.size() - 1);
    }

    /// Ids in two places stay in two places when there are twice as many.
    void grow() {
        std::vector<Slot> before(slots_.empty() ? 1024 : 2 * slots_.size());
        before.swap(slots_);
        for (const Slot& slot : before) {
            if (slot.used) {
                slots_[place(slot.id)] = slot;
            }
        }
    }

    std::vector<Slot> slots_;  // A power of two.
    std::size_t count_ = 0;
};

}  // namespace gpuspy::analysis

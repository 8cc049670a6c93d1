// Numbers of operations and bytes. A trace may hold any sizes: what does not fit 64 bits, or would be negative, is no
// number, and stays none.
#pragma once

#include <cstdint>

namespace gpuspy::analysis {

class Count {
public:
    constexpr Count() = default;
    constexpr Count(std::int64_t value)  // NOLINT(google-explicit-constructor): formulas mix sizes and constants
        : value_(value < 0 ? 0 : static_cast<std::uint64_t>(value)), valid_(value >= 0) {}

    [[nodiscard]] constexpr bool valid() const { return valid_; }
    [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

    friend constexpr Count operator*(Count a, Count b) {
        a.valid_ = !__builtin_mul_overflow(a.value_, b.value_, &a.value_) && a.valid_ && b.valid_;
        return a;
    }
    friend constexpr Count operator+(Count a, Count b) {
        a.valid_ = !__builtin_add_overflow(a.value_, b.value_, &a.value_) && a.valid_ && b.valid_;
        return a;
    }
    friend constexpr Count operator-(Count a, Count b) {
        a.valid_ = !__builtin_sub_overflow(a.value_, b.value_, &a.value_) && a.valid_ && b.valid_;
        return a;
    }
    friend constexpr Count operator/(Count a, std::uint64_t divisor) {
        a.value_ /= divisor;
        return a;
    }
    friend constexpr bool operator<(Count a, Count b) { return a.value_ < b.value_; }

private:
    std::uint64_t value_ = 0;
    bool valid_ = true;
};

}  // namespace gpuspy::analysis

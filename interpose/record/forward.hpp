// Calls that are recorded and forwarded as they are, whatever their type (rows CALL of the table).
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/record/call.hpp"

namespace gpuspy::hook {

/// A forwarded call's registers, as interpose/table/forward_stubs.S lays them on its stack.
struct ForwardFrame {
    std::uint64_t integers[6];   ///< rdi, rsi, rdx, rcx, r8, r9
    const std::uint64_t* stack;  ///< The words above the return address.
    std::uint64_t row_and_slot;  ///< Index among the rows CALL * 8 + slot (kElfSlot: the exported symbol).
    std::uint64_t vectors[8][2];
    std::uint64_t vector_count;
    void* original;
    CallFrame call;
    std::uint64_t results[2];  ///< rax, rdx
    std::uint64_t vector_results[2][2];

    /// The index-th integer-class word of the call.
    [[nodiscard]] std::uint64_t word(unsigned index) const noexcept {
        return index < 6 ? integers[index] : stack[index - 6];
    }
};
static_assert(offsetof(ForwardFrame, stack) == 48 && offsetof(ForwardFrame, row_and_slot) == 56);
static_assert(offsetof(ForwardFrame, vectors) == 64 && offsetof(ForwardFrame, vector_count) == 192);
static_assert(offsetof(ForwardFrame, original) == 200 && offsetof(ForwardFrame, results) == 240);
static_assert(sizeof(ForwardFrame) == 288);

/// The stubs of all rows CALL, kStubsPerRow of each in the order of the table: slots, then the exported symbol.
extern "C" const unsigned char gpuspy_forward_stubs[];

inline constexpr std::size_t kStubBytes = 16;
inline constexpr std::size_t kStubsPerRow = kSlotCount + 1;

}  // namespace gpuspy::hook

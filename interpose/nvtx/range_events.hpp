// NVTX's functions, without the forms in which they come (inject.cpp): counting levels and writing events.
#pragma once

#include <cstdint>

#include "interpose/nvtx/handles.hpp"
#include "interpose/nvtx/text.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook::nvtx {

using RangeText = Text<abi::kMaxRangeTextBytes>;

/// The level of the range that begins, from 0; kNoTracking: it could not be counted.
int push_range(const Domain& domain, const RangeText& text) noexcept;
/// The level of the range that ends; negative: none is open.
int pop_range(const Domain& domain) noexcept;
/// The range's id.
std::uint64_t start_range(const Domain& domain, const RangeText& text) noexcept;
void end_range(const Domain& domain, std::uint64_t id) noexcept;
void set_mark(const Domain& domain, const RangeText& text) noexcept;

/// The calling thread has just got its ring: writes the ranges that are open. `is_first`: of this recording.
void write_open_ranges(ThreadState& state, bool is_first) noexcept;

}  // namespace gpuspy::hook::nvtx

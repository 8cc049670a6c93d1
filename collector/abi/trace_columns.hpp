// How the payload of a block lies in columns (kBlockColumns, since 1.4): which byte of a record goes where.
//
// Calls and device records have varints alone. What repeats in them is far from the next time that it does, and between lie times, which never
// repeat. So the fields of these records are taken apart: column by column, all first bytes of a field, all second ones, all others. The
// payload is then
//
//     the size of each column: kColumnCount varints | the columns, in their order
//
// Column kRows has the records in their order: of those that were taken apart the tag and the number of fields, of others all bytes. The fields of a call from
// the fourth on are kept by API: the APIs of a block are numbered as they appear, from 0; from kLastSlot on they share one number.
#pragma once

#include <array>
#include <cstdint>

#include "collector/abi/trace_format.hpp"

namespace gpuspy::abi {

/// Bytes of a varint: the first, the second, the rest.
inline constexpr std::uint32_t kPlanes = 3;
inline constexpr std::uint32_t kLastSlot = 63;
/// Fields from the 16th on share a group.
inline constexpr std::uint32_t kLastField = 15;
/// Of a call, those that are not kept by API: flags, api, depth.
inline constexpr std::uint32_t kSharedFields = 3;

inline constexpr std::uint32_t kCallGroups = kSharedFields + (kLastField + 1 - kSharedFields) * (kLastSlot + 1);
inline constexpr std::uint32_t kDeviceGroups = kLastField + 1;
inline constexpr std::uint32_t kGroupCount = kCallGroups + 3 * kDeviceGroups;
inline constexpr std::uint32_t kRows = 0;
inline constexpr std::uint32_t kColumnCount = 1 + kPlanes * kGroupCount;

constexpr bool is_taken_apart(std::uint64_t tag) noexcept {
    return tag == static_cast<std::uint32_t>(Tag::kCall) || tag == static_cast<std::uint32_t>(Tag::kKernel) ||
           tag == static_cast<std::uint32_t>(Tag::kMemcpy) || tag == static_cast<std::uint32_t>(Tag::kMemset);
}

/// Of the field `field` (from 0) of a record with this tag, which is one that is taken apart; `slot`: the number of a call's API.
constexpr std::uint32_t group_of(std::uint64_t tag, std::uint32_t field, std::uint32_t slot) noexcept {
    const std::uint32_t place = field < kLastField ? field : kLastField;
    if (tag == static_cast<std::uint32_t>(Tag::kCall)) {
        return place < kSharedFields ? place : kSharedFields + (place - kSharedFields) * (kLastSlot + 1) + slot;
    }
    return kCallGroups + (static_cast<std::uint32_t>(tag) - static_cast<std::uint32_t>(Tag::kKernel)) * kDeviceGroups +
           place;
}
static_assert(static_cast<std::uint32_t>(Tag::kMemset) - static_cast<std::uint32_t>(Tag::kKernel) == 2);
static_assert(group_of(static_cast<std::uint32_t>(Tag::kMemset), kLastField, 0) == kGroupCount - 1);

/// Whether the group has begins or durations: they come last, since they compress in another way.
constexpr bool is_time_group(std::uint32_t group) noexcept {
    if (group < kSharedFields) return false;
    if (group < kCallGroups) return (group - kSharedFields) / (kLastSlot + 1) < 2;
    const std::uint32_t field = (group - kCallGroups) % kDeviceGroups;
    return field == 5 || field == 6;
}

/// The order of the columns: the rows; groups without times, plane by plane of each; then the times' first bytes, second bytes, others.
struct ColumnOrder {
    std::array<std::array<std::uint16_t, kPlanes>, kGroupCount> at{};
    std::uint32_t first_time = 0;   ///< Column with which the times begin.
    std::uint32_t second_time = 0;  ///< With which their second bytes do.
};
constexpr ColumnOrder make_column_order() noexcept {
    ColumnOrder order;
    std::uint16_t next = kRows + 1;
    for (std::uint32_t group = 0; group < kGroupCount; ++group) {
        for (std::uint32_t plane = 0; plane < kPlanes && !is_time_group(group); ++plane)
            order.at[group][plane] = next++;
    }
    order.first_time = next;
    for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
        if (plane == 1) order.second_time = next;
        for (std::uint32_t group = 0; group < kGroupCount; ++group) {
            if (is_time_group(group)) order.at[group][plane] = next++;
        }
    }
    return order;
}
inline constexpr ColumnOrder kColumnOrder = make_column_order();

}  // namespace gpuspy::abi

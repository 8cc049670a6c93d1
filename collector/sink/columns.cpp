#include "collector/sink/columns.hpp"

#include <cstring>

#include "collector/sink/wire.hpp"

namespace gpuspy::sink {
namespace {

constexpr std::uint8_t kNoSlot = 0xff;

/// An API beyond the table's end would be numbered too by who reads this: take_record_apart() refuses it before.
std::uint32_t slot_of(ColumnScratch& scratch, std::uint64_t api) noexcept {
    std::uint8_t& slot = scratch.slot_of_api[api];
    if (slot == kNoSlot) {
        slot = static_cast<std::uint8_t>(scratch.slots);
        scratch.slots += scratch.slots < abi::kLastSlot ? 1 : 0;
    }
    return slot;
}

void forget_slots(ColumnScratch& scratch) noexcept {
    std::memset(scratch.slot_of_api, kNoSlot, sizeof scratch.slot_of_api);
    scratch.slots = 0;
}

/// How many bytes each column gets.
struct Sizes {
    std::uint32_t* of;
    void put(std::uint32_t column, const std::uint8_t*, std::size_t count) noexcept {
        of[column] += static_cast<std::uint32_t>(count);
    }
    void put(std::uint32_t column, std::uint8_t) noexcept { ++of[column]; }
};

struct Copies {
    std::uint32_t* place;
    std::uint8_t* out;
    void put(std::uint32_t column, const std::uint8_t* bytes, std::size_t count) noexcept {
        std::memcpy(out + place[column], bytes, count);
        place[column] += static_cast<std::uint32_t>(count);
    }
    void put(std::uint32_t column, std::uint8_t byte) noexcept { out[place[column]++] = byte; }
};

template <class Output>
void put_varint(Output& output, std::uint64_t value) noexcept {
    std::uint8_t bytes[kMaxVarintBytes];
    WireBuffer number(bytes, sizeof bytes);
    number.varint(value);
    output.put(abi::kRows, bytes, number.size());
}

/// Bytes that end a varint.
std::uint64_t count_fields(const std::uint8_t* at, std::size_t bytes) noexcept {
    constexpr std::uint64_t kMoreOfEach = 0x8080808080808080U;
    std::uint64_t count = 0;
    for (; bytes >= sizeof count; at += sizeof count, bytes -= sizeof count) {
        std::uint64_t word;
        std::memcpy(&word, at, sizeof word);
        count += static_cast<std::uint64_t>(__builtin_popcountll(~word & kMoreOfEach));
    }
    for (; bytes > 0; ++at, --bytes) count += (*at & 0x80U) == 0 ? 1 : 0;
    return count;
}

/// A record that is varints alone; false: it is not, or its API has a number that there is no room for.
template <class Output>
bool take_record_apart(std::uint64_t tag, const std::uint8_t* at, std::size_t bytes, ColumnScratch& scratch,
                       Output& output) noexcept {
    constexpr std::uint8_t kMore = 0x80;
    const std::uint8_t* const end = at + bytes;
    if (bytes == 0 || (end[-1] & kMore) != 0) return false;
    put_varint(output, count_fields(at, bytes));
    std::uint32_t slot = 0;
    for (std::uint32_t field = 0; at < end; ++field) {
        if (field == 1 && tag == static_cast<std::uint32_t>(abi::Tag::kCall)) {
            const std::uint64_t api = WireReader(at, static_cast<std::size_t>(end - at)).varint();
            if (api >= sizeof scratch.slot_of_api) return false;
            slot = slot_of(scratch, api);
        }
        const auto& columns = abi::kColumnOrder.at[abi::group_of(tag, field, slot)];
        output.put(columns[0], *at);
        if ((*at++ & kMore) == 0) continue;
        output.put(columns[1], *at);
        while ((*at++ & kMore) != 0) output.put(columns[2], *at);
    }
    return true;
}

template <class Output>
bool walk(const std::uint8_t* payload, std::size_t bytes, ColumnScratch& scratch, Output output) noexcept {
    forget_slots(scratch);
    WireReader reader(payload, bytes);
    while (reader.left() > 0) {
        const std::uint8_t* begin = reader.at();
        const std::uint64_t tag = reader.varint();
        const std::uint8_t* const behind_tag = reader.at();
        const std::uint64_t length = reader.varint();
        if (reader.failed() || length > reader.left()) return false;
        const std::uint8_t* const fields = reader.at();
        reader.skip(static_cast<std::size_t>(length));
        if (!abi::is_taken_apart(tag)) {
            output.put(abi::kRows, begin, static_cast<std::size_t>(reader.at() - begin));
            continue;
        }
        output.put(abi::kRows, begin, static_cast<std::size_t>(behind_tag - begin));
        if (!take_record_apart(tag, fields, static_cast<std::size_t>(length), scratch, output)) return false;
    }
    return true;
}

}  // namespace

bool take_apart(const std::uint8_t* payload, std::size_t bytes, std::uint8_t* out, ColumnScratch& scratch,
                ColumnParts& parts) noexcept {
    std::memset(scratch.place, 0, sizeof scratch.place);
    if (!walk(payload, bytes, scratch, Sizes{scratch.place})) return false;
    WireBuffer head(out, kColumnSizesBytes);
    for (const std::uint32_t size : scratch.place) head.varint(size);
    std::size_t next = head.size();
    for (std::uint32_t column = 0; column < abi::kColumnCount; ++column) {
        if (column == abi::kColumnOrder.first_time) parts.end[0] = next;
        if (column == abi::kColumnOrder.second_time) parts.end[1] = next;
        const std::uint32_t size = scratch.place[column];
        scratch.place[column] = static_cast<std::uint32_t>(next);
        next += size;
    }
    parts.end[2] = next;
    return walk(payload, bytes, scratch, Copies{scratch.place, out});
}

}  // namespace gpuspy::sink

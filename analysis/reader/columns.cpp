#include "analysis/reader/columns.hpp"

#include <array>
#include <cstdint>
#include <unordered_map>

#include "analysis/reader/cursor.hpp"
#include "collector/abi/trace_columns.hpp"

namespace gpuspy::analysis {
namespace {

constexpr unsigned char kMore = 0x80;

void append_varint(std::string& to, std::uint64_t value) {
    while (value >= kMore) {
        to.push_back(static_cast<char>((value & 0x7fU) | kMore));
        value >>= 7;
    }
    to.push_back(static_cast<char>(value));
}

class Columns {
public:
    /// False: the sizes are not those of what follows them.
    bool open(std::string_view payload) {
        Cursor cursor(payload);
        std::array<std::uint64_t, abi::kColumnCount> sizes{};
        for (std::uint64_t& size : sizes) {
            size = cursor.varint();
        }
        for (std::size_t column = 0; column < sizes.size(); ++column) {
            rest_[column] = cursor.bytes(sizes[column]);
        }
        return cursor.ok() && cursor.at_end();
    }

    [[nodiscard]] std::string_view rows() const { return rest_[abi::kRows]; }

    /// Appends the next varint of a group. False: there is none.
    bool take(std::uint32_t group, std::string& to) {
        const auto& columns = abi::kColumnOrder.at[group];
        for (std::uint32_t plane = 0;; plane = plane < abi::kPlanes - 1 ? plane + 1 : plane) {
            std::string_view& rest = rest_[columns[plane]];
            if (rest.empty()) {
                return false;
            }
            to.push_back(rest.front());
            rest.remove_prefix(1);
            if ((static_cast<unsigned char>(to.back()) & kMore) == 0) {
                return true;
            }
        }
    }

    [[nodiscard]] bool all_taken() const {
        for (std::size_t column = abi::kRows + 1; column < rest_.size(); ++column) {
            if (!rest_[column].empty()) {
                return false;
            }
        }
        return true;
    }

private:
    std::array<std::string_view, abi::kColumnCount> rest_{};
};

/// Numbers of APIs, in the order in which they appear.
class Slots {
public:
    std::uint32_t of(std::uint64_t api) {
        if (const auto found = slots_.find(api); found != slots_.end()) {
            return found->second;
        }
        // All that come later share the last: none of them need be remembered.
        return next_ < abi::kLastSlot ? slots_[api] = next_++ : abi::kLastSlot;
    }

private:
    std::unordered_map<std::uint64_t, std::uint32_t> slots_;
    std::uint32_t next_ = 0;
};

}  // namespace

std::size_t column_sizes_bytes() {
    return std::size_t{abi::kColumnCount} * 5;
}

bool put_together(std::string_view columns, std::size_t raw_bytes, std::string& records) {
    records.clear();
    records.reserve(raw_bytes);
    Columns from;
    if (!from.open(columns)) {
        return false;
    }
    Slots slots;
    std::string fields;
    Cursor rows(from.rows());
    while (!rows.at_end()) {
        const std::uint64_t tag = rows.varint();
        const std::uint64_t count = rows.varint();  // of fields, or of bytes
        append_varint(records, tag);
        if (!abi::is_taken_apart(tag)) {
            append_varint(records, count);
            records += rows.bytes(count);
        } else {
            fields.clear();
            std::uint32_t slot = 0;
            for (std::uint64_t field = 0; field < count; ++field) {
                const std::size_t begin = fields.size();
                const auto place = static_cast<std::uint32_t>(field < abi::kLastField ? field : abi::kLastField);
                if (!from.take(abi::group_of(tag, place, slot), fields) || fields.size() > raw_bytes) {
                    return false;
                }
                if (field == 1 && tag == static_cast<std::uint32_t>(abi::Tag::kCall)) {
                    slot = slots.of(Cursor(std::string_view(fields).substr(begin)).varint());
                }
            }
            append_varint(records, fields.size());
            records += fields;
        }
        if (!rows.ok() || records.size() > raw_bytes) {
            return false;
        }
    }
    return records.size() == raw_bytes && from.all_taken();
}

}  // namespace gpuspy::analysis

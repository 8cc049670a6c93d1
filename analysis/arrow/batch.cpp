#include "analysis/arrow/batch.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis {
namespace {

/// A cell as a number of 64 bits; of another kind than the column's it is converted.
template <class Number>
Number number_of(const Cell& cell) {
    return std::visit(
        [](const auto& value) -> Number {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_arithmetic_v<Value>) {
                if constexpr (std::is_integral_v<Number> && std::is_floating_point_v<Value>) {
                    return static_cast<Number>(std::llround(value));
                }
                return static_cast<Number>(value);
            } else {
                return Number{};
            }
        },
        cell);
}

/// A column of a batch, and the memory that its array points to.
class ColumnMemory {
public:
    explicit ColumnMemory(ArrowType type) : type_(type) {
        if (type_ == ArrowType::kUtf8) {
            offsets_.push_back(0);
        }
    }

    void add(const Cell& cell) {
        const bool known = !std::holds_alternative<std::monostate>(cell);
        set_bit(validity_, known);
        nulls_ += known ? 0 : 1;
        switch (type_) {
            case ArrowType::kInt64:
                append(number_of<std::int64_t>(cell));
                break;
            case ArrowType::kUint64:
                append(number_of<std::uint64_t>(cell));
                break;
            case ArrowType::kFloat64:
                append(number_of<double>(cell));
                break;
            case ArrowType::kBool:
                set_bit(data_, number_of<std::uint64_t>(cell) != 0);
                break;
            case ArrowType::kUtf8:
                if (const auto* text = std::get_if<std::string>(&cell)) {
                    data_ += valid_utf8(*text);
                }
                offsets_.push_back(static_cast<std::int32_t>(data_.size()));
                break;
        }
        ++length_;
    }

    [[nodiscard]] std::size_t text_bytes() const { return type_ == ArrowType::kUtf8 ? data_.size() : 0; }

    /// The array owns `memory` from now on.
    static void give(std::unique_ptr<ColumnMemory> memory, ArrowArray& out) {
        const bool text = memory->type_ == ArrowType::kUtf8;
        memory->buffers_ = {memory->nulls_ == 0 ? nullptr : static_cast<const void*>(memory->validity_.data()),
                            text ? static_cast<const void*>(memory->offsets_.data()) : memory->data_.data(),
                            text ? memory->data_.data() : nullptr};
        out = {};
        out.length = memory->length_;
        out.null_count = memory->nulls_;
        out.n_buffers = text ? 3 : 2;
        out.buffers = memory->buffers_.data();
        out.release = [](ArrowArray* array) {
            delete static_cast<ColumnMemory*>(array->private_data);
            array->release = nullptr;
        };
        out.private_data = memory.release();
    }

private:
    template <class Number>
    void append(Number number) {
        std::array<char, sizeof(Number)> bytes{};
        std::memcpy(bytes.data(), &number, sizeof(Number));
        data_.append(bytes.data(), bytes.size());
    }

    void set_bit(std::string& bits, bool value) const {
        const auto bit = static_cast<unsigned>(length_ % 8);
        if (bit == 0) {
            bits += '\0';
        }
        bits.back() = static_cast<char>(static_cast<unsigned char>(bits.back()) | (value ? 1U << bit : 0U));
    }

    ArrowType type_;
    std::int64_t length_ = 0, nulls_ = 0;
    std::string validity_, data_;  // Bytes, aligned to 8 as std::string holds them.
    std::vector<std::int32_t> offsets_;
    std::array<const void*, 3> buffers_{};
};

struct BatchMemory {
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> child_pointers;
    std::array<const void*, 1> buffers{};  // A struct has a validity buffer alone: none, since no row is null.
};

void release_batch(ArrowArray* array) {
    const std::unique_ptr<BatchMemory> memory(static_cast<BatchMemory*>(array->private_data));
    for (ArrowArray& child : memory->children) {
        if (child.release != nullptr) {
            child.release(&child);
        }
    }
    array->release = nullptr;
}

bool is_full(const std::vector<std::unique_ptr<ColumnMemory>>& columns, const BatchLimits& limits) {
    for (const auto& column : columns) {
        if (column->text_bytes() >= limits.text_bytes) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::size_t make_batch(const ColumnTable& table, std::size_t from, const BatchLimits& limits, ArrowArray& out) {
    std::vector<std::unique_ptr<ColumnMemory>> columns;
    for (const ArrowColumn& column : table.columns) {
        columns.push_back(std::make_unique<ColumnMemory>(column.type));
    }
    std::size_t rows = 0;
    while (from + rows < table.rows && rows < limits.rows && !is_full(columns, limits)) {
        for (std::size_t column = 0; column < columns.size(); ++column) {
            columns[column]->add(table.columns[column].value(from + rows));
        }
        ++rows;
    }
    auto memory = std::make_unique<BatchMemory>();
    memory->children.resize(columns.size());
    memory->child_pointers.resize(columns.size());
    // From here on nothing throws.
    for (std::size_t column = 0; column < columns.size(); ++column) {
        ColumnMemory::give(std::move(columns[column]), memory->children[column]);
        memory->child_pointers[column] = &memory->children[column];
    }
    out = {};
    out.length = static_cast<std::int64_t>(rows);
    out.n_buffers = 1;
    out.buffers = memory->buffers.data();
    out.n_children = static_cast<std::int64_t>(memory->children.size());
    out.children = memory->child_pointers.data();
    out.release = release_batch;
    out.private_data = memory.release();
    return rows;
}

}  // namespace gpuspy::analysis

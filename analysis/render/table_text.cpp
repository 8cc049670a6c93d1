#include "analysis/render/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/render/display_text.hpp"
#include "analysis/render/kernel_name.hpp"

namespace gpuspy::analysis {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;
/// A long name stands in its row where it has at least this much room, else on a line of its own.
constexpr std::size_t kLeastNameColumns = 40;
/// No other text is wider than this.
constexpr std::size_t kMostTextColumns = 40;

bool is_text(Unit unit) {
    return unit == Unit::kText || unit == Unit::kName;
}

double number_of(const Cell& cell) {
    return std::visit(
        [](const auto& value) -> double {
            if constexpr (requires { static_cast<double>(value); }) {
                return static_cast<double>(value);
            } else {
                return 0;
            }
        },
        cell);
}

/// "12.3 TFLOP", three digits.
std::string scaled_text(double value, const char* unit) {
    static constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
    std::size_t prefix = 0;
    while (std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
        value /= 1000;
        ++prefix;
    }
    const int decimals = prefix == 0 || std::abs(value) >= 99.95 ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}{}", value, decimals, kPrefixes[prefix], unit);
}

std::string signed_duration_text(double ns) {
    const std::string text = duration_text(static_cast<std::uint64_t>(std::llround(std::abs(ns))));
    return ns < 0 ? "-" + text : text;
}

std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t width, bool left) {
    const std::string space(width - std::min(width, width_of(text)), ' ');
    return left ? text + space : space + text;
}

/// Rows as text, each column cut and padded to its width.
class Layout {
public:
    Layout(const Table& table, std::size_t rows, std::size_t line) : table_(table) {
        std::size_t used = kIndent;
        for (std::size_t column = 0; column < table.columns.size(); ++column) {
            std::size_t width = width_of(table.columns[column].title);
            for (std::size_t row = 0; row < rows; ++row) {
                width = std::max(width, width_of(text(row, column)));
            }
            const bool last = column + 1 == table.columns.size();
            const Unit unit = table.columns[column].unit;
            if (unit == Unit::kText && line != 0) {
                width = std::min(width, kMostTextColumns);
            }
            if (last && unit == Unit::kName && line != 0) {
                const std::size_t left = line > used ? line - used : 0;
                own_line_ = width > left && left < kLeastNameColumns;
                width = std::min(width, own_line_ ? line - kIndent - kGap : left);
            }
            widths_.push_back(width);
            used += width + kGap;
        }
    }

    [[nodiscard]] std::string head() const {
        std::string out(kIndent, ' ');
        for (std::size_t column = 0; column < widths_.size(); ++column) {
            add(out, table_.columns[column].title, column, widths_.size() - (own_line_ ? 1 : 0));
        }
        return trimmed(out);
    }

    [[nodiscard]] std::string row(std::size_t row) const {
        std::string out(kIndent, ' ');
        const std::size_t inline_columns = widths_.size() - (own_line_ ? 1 : 0);
        for (std::size_t column = 0; column < inline_columns; ++column) {
            add(out, text(row, column), column, inline_columns);
        }
        out = trimmed(out);
        if (own_line_ && !std::holds_alternative<std::monostate>(table_.rows[row][inline_columns])) {
            out += "\n" + std::string(kIndent + kGap, ' ') + fitted_name(text(row, inline_columns), widths_.back());
        }
        return out;
    }

private:
    [[nodiscard]] std::string text(std::size_t row, std::size_t column) const {
        return cell_text(table_.rows[row][column], table_.unit_of(row, column));
    }

    void add(std::string& out, const std::string& text, std::size_t column, std::size_t columns) const {
        if (column >= columns) {
            return;
        }
        const std::size_t width = std::max<std::size_t>(1, widths_[column]);
        const bool is_name = table_.columns[column].unit == Unit::kName;
        out += padded(is_name ? fitted_name(text, width) : cut_middle(text, width), widths_[column],
                      is_text(table_.columns[column].unit));
        out += std::string(kGap, ' ');
    }

    static std::string trimmed(std::string text) {
        text.erase(text.find_last_not_of(' ') + 1);
        return text;
    }

    const Table& table_;
    std::vector<std::size_t> widths_;
    bool own_line_ = false;
};

}  // namespace

std::string cell_text(const Cell& cell, Unit unit) {
    if (std::holds_alternative<std::monostate>(cell)) {
        return "-";
    }
    if (const auto* text = std::get_if<std::string>(&cell)) {
        return printable(*text);
    }
    const double value = number_of(cell);
    switch (unit) {
        case Unit::kText:
        case Unit::kName:
        case Unit::kNumber:
            // What would be 0.00 and is not 0 says so.
            return value != 0 && std::abs(value) < 0.005 ? fmt::format("{:.1g}", value) : fmt::format("{:.2f}", value);
        case Unit::kCount:
            return value < 0 ? "-" + count_text(static_cast<std::uint64_t>(-value))
                             : count_text(static_cast<std::uint64_t>(value));
        case Unit::kDurationNs:
            return signed_duration_text(value);
        case Unit::kMomentNs:
            return fmt::format("{:.6f} s", value / 1e9);
        case Unit::kBytes:
            return bytes_text(static_cast<std::uint64_t>(value));
        case Unit::kShare:
            return fmt::format("{:.1f}", 100 * value);
        case Unit::kGigabytesPerS:
            return fmt::format("{:.2f}", value);
        case Unit::kFlops:
            return scaled_text(value, "FLOP");
        case Unit::kFlopsPerS:
            return scaled_text(value, "FLOP/s");
    }
    return {};
}

std::string render_table_text(const Table& table, const TextTableOptions& options) {
    if (table.rows.empty() && table.notes.empty()) {
        return {};
    }
    std::string out = options.colour ? "\x1b[1m" + table.title + "\x1b[0m" : table.title;
    if (!table.remark.empty()) {
        out += "  (" + table.remark + ")";
    }
    out += "\n";
    const std::size_t shown =
        std::min(table.rows.size(), options.top == 0 ? std::numeric_limits<std::size_t>::max() : options.top);
    if (shown != 0) {
        const Layout layout(table, shown, options.columns);
        out += layout.head() + "\n";
        for (std::size_t row = 0; row < shown; ++row) {
            out += layout.row(row) + "\n";
        }
    }
    if (table.rows.size() > shown) {
        out += fmt::format("  ... and {} more (--top 0 shows all)\n", count_text(table.rows.size() - shown));
    }
    for (const std::string& note : table.notes) {
        out += "  " + printable(note) + "\n";
    }
    return out;
}

}  // namespace gpuspy::analysis

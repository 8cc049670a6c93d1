#include "analysis/passes/condition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/render/display_text.hpp"
#include "collector/abi/libraries.hpp"

namespace gpuspy::analysis {
namespace {

struct Suffix {
    std::string_view text;
    double factor;
};

constexpr std::array<Suffix, 4> kDurations = {{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}};
constexpr std::array<Suffix, 9> kSizes = {{{"", 1},
                                           {"B", 1},
                                           {"kB", 1e3},
                                           {"MB", 1e6},
                                           {"GB", 1e9},
                                           {"TB", 1e12},
                                           {"KiB", 1024},
                                           {"MiB", 1024.0 * 1024},
                                           {"GiB", 1024.0 * 1024 * 1024}}};
constexpr std::array<Suffix, 1> kPlain = {{{"", 1}}};

std::span<const Suffix> suffixes(Unit unit) {
    switch (unit) {
        case Unit::kDurationNs:
            return kDurations;
        case Unit::kBytes:
            return kSizes;
        default:
            return kPlain;
    }
}

const char* example(Unit unit) {
    switch (unit) {
        case Unit::kDurationNs:
            return "2s, 100ms, 30us, 5ns, 30% (of wall time), or +5% (of the first trace's)";
        case Unit::kBytes:
            return "1000, 10MB, 1GiB, or +5% (of the first trace's)";
        case Unit::kShare:
            return "80%, or +5% (of the first trace's)";
        default:
            return "1000, or +5% (of the first trace's)";
    }
}

std::string measure_names() {
    std::vector<std::string> names;
    for (const Measure& measure : fixed_measures()) {
        names.push_back(measure.name);
    }
    return fmt::format("{}, share.LIBRARY, calls.LIBRARY", fmt::join(names, ", "));
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string_view::npos ? std::string_view{}
                                           : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// Sets kind and bound; false if `text` is neither.
bool read_bound(std::string_view text, Condition& condition) {
    const bool is_signed = !text.empty() && (text.front() == '+' || text.front() == '-');
    const double sign = is_signed && text.front() == '-' ? -1 : 1;
    text.remove_prefix(is_signed ? 1 : 0);
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(value) || text.front() == '-') {
        return false;
    }
    const std::string_view unit = trimmed({rest, static_cast<std::size_t>(text.data() + text.size() - rest)});
    if (unit == "%") {
        const Unit of = condition.measure.unit;
        condition.kind = is_signed                 ? BoundKind::kOfFirst
                         : of == Unit::kDurationNs ? BoundKind::kShareOfWall
                                                   : BoundKind::kAbsolute;
        condition.bound = sign * value / 100;
        return is_signed || of == Unit::kDurationNs || of == Unit::kShare;
    }
    if (is_signed || condition.measure.unit == Unit::kShare) {
        return false;
    }
    for (const Suffix& suffix : suffixes(condition.measure.unit)) {
        if (unit == suffix.text) {
            condition.bound = value * suffix.factor;
            return true;
        }
    }
    return false;
}

bool holds(Operator op, double value, double bound) {
    switch (op) {
        case Operator::kLess:
            return value < bound;
        case Operator::kLessOrEqual:
            return value <= bound;
        case Operator::kMore:
            return value > bound;
        case Operator::kMoreOrEqual:
            return value >= bound;
    }
    return false;
}

std::string not_known(const Condition& condition, const RunGroup& group) {
    const bool no_images = condition.measure.per_image && !group.runs.front().images;
    return fmt::format("{}: {} of {} is not known: {}", condition.text, condition.measure.name, group.label,
                       no_images ? "--images says how many there were" : "the notes of the comparison say why");
}

}  // namespace

std::variant<Condition, std::string> parse_condition(const std::string& text) {
    const std::size_t at = text.find_first_of("<>");
    if (at == std::string::npos) {
        return fmt::format(
            "\"{}\" is no condition: say MEASURE, one of > >= < <=, and a bound: gpu_time>+5%; measures: {}",
            printable(text), measure_names());
    }
    Condition condition;
    condition.text = text;
    const std::string name(trimmed(std::string_view(text).substr(0, at)));
    const auto measure = find_measure(name);
    if (!measure) {
        return fmt::format("there is no measure \"{}\"; there are: {}", printable(name), measure_names());
    }
    condition.measure = *measure;
    const bool or_equal = text.compare(at + 1, 1, "=") == 0;
    condition.op = text[at] == '<' ? (or_equal ? Operator::kLessOrEqual : Operator::kLess)
                                   : (or_equal ? Operator::kMoreOrEqual : Operator::kMore);
    const std::string bound(trimmed(std::string_view(text).substr(at + (or_equal ? 2 : 1))));
    if (!read_bound(bound, condition)) {
        return fmt::format("\"{}\": \"{}\" is no bound for {}: say {}", printable(text), printable(bound), name,
                           example(measure->unit));
    }
    return condition;
}

std::optional<std::string> unknown_library(const Condition& condition, const Comparison& comparison) {
    const std::string& name = condition.measure.name;
    const std::size_t dot = name.find('.');
    const bool is_share = name.starts_with("share.");
    if (dot == std::string::npos || !(is_share || name.starts_with("calls."))) {
        return std::nullopt;
    }
    std::set<std::string> libraries(std::begin(abi::kLibraries), std::end(abi::kLibraries));
    if (is_share) {
        libraries.insert({"own", "unknown"});
    }
    for (const ComparedMeasure& one : comparison.measures) {
        if (one.measure.name.starts_with(name.substr(0, dot + 1))) {
            libraries.insert(one.measure.name.substr(dot + 1));
        }
    }
    if (libraries.count(name.substr(dot + 1)) != 0) {
        return std::nullopt;
    }
    return fmt::format("there is no library \"{}\"; there are: {}", printable(name.substr(dot + 1)),
                       printable(fmt::format("{}", fmt::join(libraries, ", "))));
}

std::string value_text(double value, Unit unit) {
    switch (unit) {
        case Unit::kDurationNs:
            return duration_text(static_cast<std::uint64_t>(std::llround(value)));
        case Unit::kBytes:
            return bytes_text(static_cast<std::uint64_t>(std::llround(value)));
        case Unit::kShare:
            return percent_text(value);
        case Unit::kCount:
            return value == std::floor(value) ? count_text(static_cast<std::uint64_t>(value))
                                              : fmt::format("{:.1f}", value);
        default:
            return fmt::format("{:.2f}", value);
    }
}

std::vector<std::string> failures(const Condition& condition, const Comparison& comparison) {
    std::vector<std::string> lines;
    const auto values = comparison.values(condition.measure.name);
    const auto walls = comparison.values("wall");
    const Unit unit = condition.measure.unit;
    for (std::size_t group = values.size() > 1 ? 1 : 0; group < values.size(); ++group) {
        const std::string& label = comparison.labels[group];
        if (!values[group]) {
            lines.push_back(not_known(condition, comparison.groups[group]));
            continue;
        }
        const double value = values[group]->median;
        const std::string said = fmt::format("{}: {}: {}", condition.text, label, value_text(value, unit));
        if (condition.kind == BoundKind::kAbsolute) {
            if (holds(condition.op, value, condition.bound)) {
                lines.push_back(said);
            }
        } else if (condition.kind == BoundKind::kShareOfWall) {
            const double wall = walls[group] ? walls[group]->median : 0;
            if (holds(condition.op, value, condition.bound * wall)) {
                lines.push_back(wall == 0 ? said
                                          : fmt::format("{}, {} of wall time", said, percent_text(value / wall)));
            }
        } else if (!values.front()) {
            lines.push_back(not_known(condition, comparison.groups.front()));
        } else {
            const double first = values.front()->median;
            if (holds(condition.op, value, first * (1 + condition.bound))) {
                lines.push_back(fmt::format("{}, {}: {}{}", said, comparison.labels.front(), value_text(first, unit),
                                            first == 0 ? "" : fmt::format(": {:+.1f} %", 100 * (value / first - 1))));
            }
        }
    }
    return lines;
}

}  // namespace gpuspy::analysis

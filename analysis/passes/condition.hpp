// What a comparison must hold to: `gpuspy-report compare --fail-if 'gpu_time>+5%'`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/passes/compare.hpp"

namespace gpuspy::analysis {

enum class Operator : std::uint8_t { kLess, kLessOrEqual, kMore, kMoreOrEqual };

enum class BoundKind : std::uint8_t {
    kAbsolute,     ///< In the measure's unit.
    kOfFirst,      ///< A change, as a share of the first trace's value: +5 % is 0.05.
    kShareOfWall,  ///< A share of the trace's own wall time.
};

struct Condition {
    std::string text;  ///< As it was typed.
    Measure measure;
    Operator op = Operator::kMore;
    BoundKind kind = BoundKind::kAbsolute;
    double bound = 0;
};

/// The condition; or what is wrong with it, in one line.
std::variant<Condition, std::string> parse_condition(const std::string& text);

/// What is wrong with a condition on share.X or calls.X where X is neither a library that is hooked nor one of the comparison's:
/// a name that is mistyped is 0 for ever. Lists those that there are.
std::optional<std::string> unknown_library(const Condition& condition, const Comparison& comparison);

/// One line for each group that meets the condition (and so fails), or of which its measure is not known. Judged are all
/// groups but the first, which they are compared with; of a single group that one. By medians.
std::vector<std::string> failures(const Condition& condition, const Comparison& comparison);

/// "80 %", "12.3 ms".
std::string value_text(double value, Unit unit);

}  // namespace gpuspy::analysis

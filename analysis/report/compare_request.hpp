// What `gpuspy-report compare` was asked for, as it was typed and as it is meant.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/passes/condition.hpp"
#include "analysis/report/selection_arguments.hpp"

namespace CLI {
class Option;
}

namespace gpuspy::report {

/// As it was typed.
struct CompareArguments {
    std::vector<std::string> traces, labels, images, conditions;
    std::string format = "text", output, table = "measures", names = "full", threshold = "10%";
    std::size_t top = 0;
    const CLI::Option* top_given = nullptr;
    bool best = false, curve = false, wide = false;
    SelectionArguments part;
};

/// What the arguments ask for, checked.
struct CompareRequest {
    std::vector<std::vector<std::string>> groups;  ///< Paths.
    std::vector<std::string> labels;
    std::vector<std::optional<double>> images;
    std::vector<analysis::Condition> conditions;
    double threshold = 0;
    analysis::Selection selection;  ///< But for --steady.
};

/// Fills `request`; or says what is wrong with the arguments, in one line.
std::optional<std::string> read_compare_request(const CompareArguments& arguments, CompareRequest& request);

}  // namespace gpuspy::report

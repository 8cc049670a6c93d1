// The options that choose a part of a recording: those of views and of comparisons.
#pragma once

#include <optional>
#include <string>

#include "analysis/model/selection.hpp"

namespace CLI {
class App;
}

namespace gpuspy::report {

/// As they were given; empty: not given.
struct SelectionArguments {
    std::string filter, from, to;
    std::string device, stream;  ///< Numbers.
    bool steady = false;

    /// "--device 0 --steady"; "" if nothing is left out.
    [[nodiscard]] std::string words() const;
    /// The name of the first that was given, or "".
    [[nodiscard]] std::string first() const;
};

/// `of`: in front of what --help says of each, as "Views: ".
void add_selection_options(CLI::App& app, SelectionArguments& arguments, const std::string& of);

/// Fills `selection`, but for --steady, which depends on the trace; or says what is wrong, in one line.
std::optional<std::string> read_selection(const SelectionArguments& arguments, analysis::Selection& selection);

/// Adds the steady state of this trace; or says why there is none, in one line. `model` has a timeline.
std::optional<std::string> select_steady(const analysis::Model& model, analysis::Selection& selection);

}  // namespace gpuspy::report

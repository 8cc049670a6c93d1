// `gpuspy-report --view`: tables of one trace, or of a part of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/selection_arguments.hpp"

namespace CLI {
class App;
}

namespace gpuspy::report {

/// What a person may say about views, as it was given.
struct ViewArguments {
    std::vector<std::string> views;  ///< "idle", "concurrency.streams", "all".
    std::string names = "full";
    SelectionArguments part;
    bool by_config = false;
    bool wide = false;

    /// The first option that says something about views, "" if none does.
    [[nodiscard]] std::string given() const;
};

void add_view_options(CLI::App& app, ViewArguments& arguments);

struct ViewOutput {
    std::string trace_path, format, output_path;
    std::size_t top = 0;
    bool top_given = false;
};

/// Prints the views that were asked for; the exit status.
int show_views(const ViewArguments& arguments, const ViewOutput& output);

}  // namespace gpuspy::report

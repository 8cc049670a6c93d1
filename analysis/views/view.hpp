// Views: what `gpuspy-report --view NAME` prints. A view turns the results of passes into tables and computes nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/model.hpp"
#include "analysis/render/kernel_name.hpp"
#include "analysis/table/table.hpp"

namespace gpuspy::analysis {

struct ViewOptions {
    NameForm names = NameForm::kFull;
    bool by_config = false;  ///< A row for each grid and block that a kernel was launched with.
};

struct ViewInput {
    const Model& model;
    const Timeline& timeline;  ///< The model's, or the part of it that was selected.
    const ViewOptions& options;
};

struct View {
    const char* name;
    const char* about;  ///< One line.
    std::vector<Table> (*tables)(const ViewInput& input);
};

/// All of them, in the order in which `--view all` prints them.
std::span<const View> views();
/// nullptr if there is none of this name.
const View* find_view(std::string_view name);

// One file each.
std::vector<Table> kernels_view(const ViewInput& input);
std::vector<Table> calls_view(const ViewInput& input);
std::vector<Table> concurrency_view(const ViewInput& input);
std::vector<Table> idle_view(const ViewInput& input);
std::vector<Table> sync_view(const ViewInput& input);
std::vector<Table> latency_view(const ViewInput& input);
std::vector<Table> libraries_view(const ViewInput& input);
std::vector<Table> memory_view(const ViewInput& input);
std::vector<Table> completeness_view(const ViewInput& input);
std::vector<Table> flops_view(const ViewInput& input);
std::vector<Table> phases_view(const ViewInput& input);

}  // namespace gpuspy::analysis

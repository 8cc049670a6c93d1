// Cells that several views make alike.
#pragma once

#include <optional>
#include <string>

#include "analysis/model/model.hpp"
#include "analysis/table/table.hpp"

namespace gpuspy::analysis {

/// What is not known stays so.
template <class Value>
Cell cell_of(const std::optional<Value>& value) {
    return value ? Cell{*value} : Cell{};
}

/// A moment of the clock of the calls, as Unit::kMomentNs has it.
inline Cell moment_cell(const Model& model, std::int64_t moment_ns) {
    return moment_ns - model.first_ns;
}

}  // namespace gpuspy::analysis

// Names of kernels in the forms that a person may ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuspy::analysis {

enum class NameForm : std::uint8_t {
    kFull,     ///< As written in source, with template arguments and parameters.
    kBase,     ///< The function's own name alone: no namespaces, template arguments, parameters, return type.
    kMangled,  ///< As the trace has it.
};

/// What the forms are called where one is asked for: "full", "base", "mangled".
const std::vector<std::string>& name_forms();
/// nullopt if no form is called so.
std::optional<NameForm> find_name_form(std::string_view name);

/// `name` in at most `width` characters: the parameters go first, then the middle. Valid UTF-8.
std::string fitted_name(const std::string& name, std::size_t width);

std::string kernel_name(const std::string& mangled, NameForm form);

}  // namespace gpuspy::analysis

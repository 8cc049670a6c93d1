// Names of kernels in the forms that a person may ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gpuspy::analysis {

enum class NameForm : std::uint8_t {
    kFull,     ///< As written in source, with template arguments and parameters.
    kBase,     ///< The function's own name alone: no namespaces, template arguments, parameters, return type.
    kMangled,  ///< As the trace has it.
};

/// `name` in at most `width` characters: the parameters go first, then the middle. Valid UTF-8.
std::string fitted_name(const std::string& name, std::size_t width);

std::string kernel_name(const std::string& mangled, NameForm form);

}  // namespace gpuspy::analysis

// Names of kernels in the forms that a person may ask for.
#pragma once

#include <cstdint>
#include <string>

namespace gpuspy::analysis {

enum class NameForm : std::uint8_t {
    kFull,     ///< As written in source, with template arguments and parameters.
    kBase,     ///< The function's own name alone: no namespaces, template arguments, parameters, return type.
    kMangled,  ///< As the trace has it.
};

std::string kernel_name(const std::string& mangled, NameForm form);

}  // namespace gpuspy::analysis

// Values of options that every command of gpuspy-run refuses alike, as CLI11 wants them checked: "" or what is wrong.
#pragma once

#include <string>

namespace gpuspy::run {

inline std::string is_not_empty(const std::string& text) {
    return text.empty() ? "its value is empty" : "";
}

/// "-" is standard output elsewhere, and here the command's own: no file of that name by accident.
inline std::string names_a_file(const std::string& text) {
    return text.empty()  ? "the name of the file is empty"
           : text == "-" ? "standard output is not for traces; name a file (./- for one that is called -)"
                         : "";
}

}  // namespace gpuspy::run

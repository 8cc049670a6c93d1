// Where the report goes: standard output or a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpuspy::report {

/// Writes `text` to `path`, or to standard output when it is empty. Returns what went wrong. A reader of standard
/// output that went away (`| head`) is nothing wrong.
std::optional<std::string> write_report(std::string_view text, const std::string& path);

/// Whether both paths name the same file.
bool same_file(const std::string& a, const std::string& b);

}  // namespace gpuspy::report

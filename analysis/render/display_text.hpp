// Text and numbers as a person reads them on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuspy::analysis {

/// Harmless on a terminal: control and bidirectional characters become '?', invalid UTF-8 becomes U+FFFD.
std::string printable(std::string_view text);

/// The same text where it is valid UTF-8; what is not becomes U+FFFD. For files that other programs read.
std::string valid_utf8(std::string_view text);

/// At most `width` characters (code points): the middle gives way to an ellipsis. `text` is valid UTF-8.
std::string cut_middle(const std::string& text, std::size_t width);

/// A C++ kernel name as written in source; any other name as it is.
std::string demangled(const std::string& mangled);

/// A GPU's 16 bytes as nvidia-smi prints them: "GPU-6c69e8d1-...". Anything else as it is.
std::string uuid_text(std::string_view uuid);

/// "1.234 s", "56.78 ms", "9.01 us", "234 ns".
std::string duration_text(std::uint64_t ns);
/// "1.234 GiB", "56.7 KiB", "12 B".
std::string bytes_text(std::uint64_t bytes);
/// "1,234,567".
std::string count_text(std::uint64_t count);
/// A share as per cent: "12.3 %".
std::string percent_text(double share);

}  // namespace gpuspy::analysis

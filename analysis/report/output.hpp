// Where the report goes: standard output or a file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/report/replaced_file.hpp"

namespace gpuspy::report {

/// What is wrong with the value of -o, as CLI11 wants it; "" if nothing is.
inline std::string names_an_output(const std::string& text) {
    return text.empty() ? "the name of the file is empty; - is standard output" : "";
}

/// The path of Output: "-" is standard output, by the path "".
inline std::string without_dash(const std::string& text) {
    return text == "-" ? "" : text;
}

/// A file, or standard output when `path` is empty. A reader of standard output that went away (`| head`) is nothing wrong.
/// The file is made with the first text, so that a trace that cannot be read leaves it as it was, and appears whole under its
/// name: what was there stays if something goes wrong.
class Output {
public:
    explicit Output(std::string path);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// False: nothing more can be written.
    bool write(std::string_view text);
    /// What went wrong, if anything did.
    std::optional<std::string> finish();

private:
    void open();

    std::string path_;
    std::unique_ptr<ReplacedFile> replaced_;
    int descriptor_ = -1;
    int error_ = 0;  ///< errno of the first failure.
};

/// errno of the first write that failed, 0 if all was written.
int write_all(int descriptor, std::string_view text);

/// Whether both paths name the same file.
bool same_file(const std::string& a, const std::string& b);

}  // namespace gpuspy::report

// A file that appears under its name whole or not at all.
#pragma once

#include <optional>
#include <string>

namespace gpuspy::report {

/// Written under another name in the same folder; commit() puts it in the place of what was there. Without commit() it is
/// removed, also when SIGINT, SIGTERM or SIGHUP ends the process. One at a time.
class ReplacedFile {
public:
    /// A link is followed: what it points to is replaced.
    explicit ReplacedFile(const std::string& path);
    ~ReplacedFile();
    ReplacedFile(const ReplacedFile&) = delete;
    ReplacedFile& operator=(const ReplacedFile&) = delete;

    [[nodiscard]] int descriptor() const { return descriptor_; }  ///< -1: it could not be made.
    [[nodiscard]] const std::string& temporary_path() const { return temporary_; }
    /// errno of what made the file impossible, 0 for nothing.
    [[nodiscard]] int error() const { return error_; }
    /// errno, 0 once everything is on the disk under the asked name.
    int commit();

private:
    std::string path_, temporary_;
    int descriptor_ = -1;
    int error_ = 0;
};

}  // namespace gpuspy::report

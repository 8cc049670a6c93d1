// A file that is read in pieces: libraries of GPU frameworks are larger than one wants in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuspy::run {

class FileBytes {
public:
    /// Check error() before anything else.
    explicit FileBytes(const std::string& path);
    ~FileBytes();
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;

    /// errno value; 0: the file is open, and a regular one.
    [[nodiscard]] int error() const { return error_; }
    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] int fd() const { return fd_; }

    /// Whether all `bytes` at `offset` are there and were read.
    bool read(std::uint64_t offset, void* into, std::size_t bytes) const;

    /// The text at `offset` up to its zero byte. False: there is none within `end`, or it is longer than a path may be.
    bool read_text(std::uint64_t offset, std::uint64_t end, std::string* text) const;

    /// For each of the texts, whether it stands somewhere in the file with a zero byte after it.
    [[nodiscard]] std::vector<bool> find_texts(const std::vector<std::string>& texts) const;

private:
    int fd_ = -1;
    int error_ = 0;
    std::uint64_t size_ = 0;
};

}  // namespace gpuspy::run

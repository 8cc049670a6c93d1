// Where the bytes of a trace come from: a file, read piece by piece, or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "analysis/reader/fault.hpp"

namespace gpuspy::analysis {

/// Bytes that can be read at any offset. The size is fixed when the source is made, so that two passes over a trace
/// that is still growing see the same bytes.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    [[nodiscard]] virtual std::uint64_t size_bytes() const = 0;
    /// Fills `out` from `offset`; returns how many bytes there were, fewer at the end or after a read error.
    virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;
};

/// Bytes in memory, which must outlive the source.
class MemorySource : public ByteSource {
public:
    explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
    [[nodiscard]] std::uint64_t size_bytes() const override { return bytes_.size(); }
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const override;

private:
    std::span<const std::byte> bytes_;
};

/// Opens a regular file for reading; the fault says what the system said.
Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

}  // namespace gpuspy::analysis

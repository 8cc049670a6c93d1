// Rows of JSON in kineto's form, buffered on their way to a sink.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/export/byte_sink.hpp"

namespace gpuspy::analysis::kineto {

/// `text` in quotes; what is not UTF-8 becomes U+FFFD.
std::string quoted(std::string_view text);

/// µs with the digits of the ns behind the point: "1234.567".
std::string microseconds(std::int64_t ns);

/// Readers take integers as int64: what does not fit, in a damaged trace, becomes the largest one.
std::int64_t integer(std::uint64_t value);

class RowWriter {
public:
    explicit RowWriter(ByteSink& sink) : sink_(sink) {}

    void text(std::string_view text);
    /// An element of the list of rows.
    void row(std::string_view object);
    /// Writes what is buffered. False: nothing more can be written.
    bool flush();
    [[nodiscard]] bool good() const { return good_; }

private:
    ByteSink& sink_;
    std::string buffer_;
    bool first_ = true, good_ = true;
};

}  // namespace gpuspy::analysis::kineto
